import { bundle, type LoadModules } from "../overload/bundle.ts";

type Rebuild = typeof import("../../../lib/ops/counts/rebuild.ts");
type Verify = typeof import("../../../lib/ops/counts/verify.ts");
type Status = typeof import("../../../lib/ops/counts/counts-status-command.ts");
type Options = typeof import("../../../lib/ops/common/options.ts");
type RepairSublists = typeof import("../../../lib/ops/counts/repair-sublists.ts");
type LeadChanges = typeof import("../../../lib/ops/leads/lead-changes.ts");

/** The operators' code that a simulation runs. */
export type Operations = Pick<Rebuild, "rebuild" | "planRebuild"> &
  Pick<RepairSublists, "repairSublists"> &
  Pick<Verify, "verify"> &
  Pick<Status, "readStatus"> &
  Pick<Options, "selectTableByOptions" | "selectPacedTable"> &
  Pick<LeadChanges, "setLeadStatus">;

const modules = [
  "common/options",
  "counts/counts-status-command",
  "counts/rebuild",
  "counts/repair-sublists",
  "counts/verify",
  "leads/lead-changes",
].map((name) => `./lib/ops/${name}.ts`);

/** Bundles the operators' code of a checkout, with a table client that calls the simulated table. */
export function buildOperations(source: string): Promise<LoadModules<Operations>> {
  const contents = modules.map((path) => `export * from ${JSON.stringify(path)};`).join("\n");
  return bundle(source, { stdin: { contents, resolveDir: source, loader: "ts" } });
}
