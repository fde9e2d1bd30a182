import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Result } from "./report.ts";
import { type Outcome, runProgram, runTool, toolsDirectory } from "./tools.ts";
import type { Access } from "./try-routes.ts";

type Runner = (collection: string, access: Access) => Promise<Outcome>;

/** Runs a collection twice: all requests succeed, and each run creates a lead and not a replay of the first one. */
export async function tryCollection(
  tool: string,
  run: Runner,
  collection: string,
  access: Access,
): Promise<Result> {
  const outcomes = [await run(collection, access), await run(collection, access)];
  const leads = await countLeads(access);
  const succeed = outcomes.every(({ ok }) => ok);
  return {
    ok: succeed && leads === outcomes.length,
    row: { tool, "all requests": succeed ? "succeed" : "fail", "leads after two runs": String(leads) },
    errors: outcomes.filter(({ ok }) => !ok).map(({ errors }) => errors),
  };
}

async function countLeads({ url, apiKey }: Access): Promise<number> {
  const response = await fetch(`${url}/api/v1/leads`, { headers: { authorization: `Bearer ${apiKey}` } });
  const { pagination } = (await response.json()) as { pagination: { total: number } };
  return pagination.total;
}

const variables = ({ url, apiKey }: Access) => [
  "--env-var",
  `baseUrl=${url}`,
  "--env-var",
  `apiKey=${apiKey}`,
];

/** Sends the requests of a Postman collection with Postman's own runner. */
export const runInPostman: Runner = (collection, access) =>
  runTool("newman", ["run", collection, "--bail", ...variables(access)]);

/** Imports a Postman collection into Bruno and sends its requests. */
export const runInBruno: Runner = async (collection, access) => {
  const directory = await mkdtemp(join(tmpdir(), "bruno-"));
  try {
    const imported = join(directory, "collection");
    const script = join(toolsDirectory, "import-into-bruno.mjs");
    const outcome = await runProgram(process.execPath, [script, collection, imported]);
    if (!outcome.ok) return outcome;
    return await runTool("bru", ["run", ...variables(access)], { directory: imported });
  } finally {
    await rm(directory, { recursive: true });
  }
};
