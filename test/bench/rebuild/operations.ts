import { existsSync } from "node:fs";
import { join } from "node:path";
import { bundle, type LoadModules } from "../overload/bundle.ts";

type Rebuild = typeof import("../../../lib/ops/counts/rebuild/rebuild.ts");
type Verify = typeof import("../../../lib/ops/counts/verify/verify.ts");
type Status = typeof import("../../../lib/ops/counts/status.ts");
type PacedOptions = typeof import("../../../lib/ops/common/options.ts");
type RepairSublists = typeof import("../../../lib/ops/counts/rebuild/repair-sublists.ts");
type AccountCommand = typeof import("../../../lib/ops/common/options.ts");
type LeadChanges = typeof import("../../../lib/ops/leads/lead-changes.ts");

/** The operators' code that a simulation runs. Older checkouts do not have all of it. */
export type Operations = Pick<Rebuild, "rebuild"> &
  Pick<Verify, "verify"> &
  Pick<AccountCommand, "selectTableByOptions"> &
  Pick<LeadChanges, "setLeadStatus"> &
  Partial<
    Pick<Rebuild, "planRebuild"> &
      Pick<RepairSublists, "repairSublists"> &
      Pick<Status, "readStatus"> &
      Pick<PacedOptions, "selectPacedTable">
  >;

const modules = [
  "account-command",
  "changes/lead-changes",
  "counts/counts-options",
  "counts/rebuild",
  "counts/repair-sublists",
  "counts/status",
  "counts/verify",
].map((name) => `./lib/ops/${name}.ts`);

/** Bundles the operators' code of a checkout, with a table client that calls the simulated table. */
export function buildOperations(source: string): Promise<LoadModules<Operations>> {
  const found = modules.filter((path) => existsSync(join(source, path)));
  const contents = found.map((path) => `export * from ${JSON.stringify(path)};`).join("\n");
  return bundle(source, { stdin: { contents, resolveDir: source, loader: "ts" } });
}
