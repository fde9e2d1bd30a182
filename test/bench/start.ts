/**
 * Measures what a cold start costs: how long the bundle of each function takes to load, and how long a new process takes
 * until its first response, compared with an empty handler and the bare SDK.
 *
 * Writes docs/bench/start.md.
 *
 * Usage: npm run bench:start
 */
import { statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { bundleFunctions, functionNames } from "../../lib/bundling/bundle.ts";
import { selectEngineTable } from "../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../lib/local/local-run.ts";
import { issueApiKey } from "../../lib/ops/keys/api-key-changes.ts";
import { Pace } from "../../shared/dynamodb/pace.ts";
import { table } from "../../shared/dynamodb/table-client.ts";
import { pacedMaintenance, repair } from "../../shared/pages/audit/repair.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { bundle } from "../support/bundle.ts";
import { authorizerEvent, routeEvent } from "../support/events.ts";
import { buildRows, rowItem } from "./pages/lead-rows.ts";
import { type Candidate, measureStarts } from "./start/measure.ts";
import { report } from "./start/report.ts";

/** How many new processes load each bundle. */
const rounds = 31;

const here = join(import.meta.dirname, "start");
const directory = join(import.meta.dirname, "../../.build/bench");
await bundleFunctions(directory);
const reference = async (name: string, entry: string) => {
  const outfile = join(directory, `${name}.cjs`);
  await bundle(entry, outfile, []);
  return { name, bundle: outfile };
};

const dataDirectory = await mkdtemp(join(tmpdir(), "bench-start-"));
// Its table is all that is used of the local run; what this process starts uses it, too.
const { dynamodbEndpoint, tableName, stop } = await startLocal({
  ...{ dataDirectory, streams: false, log: console.error, onEngineExit: () => process.exit(1) },
});
selectEngineTable(dynamodbEndpoint, tableName);
Object.assign(process.env, {
  ...{ TABLE_NAME: tableName, AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint, AWS_REGION: "local" },
  ...{ AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
});
try {
  const leads = buildRows(1000);
  for (const row of leads)
    await table.send(new PutCommand({ TableName: tableName, Item: rowItem("acme", row) }));
  await repair({ account: "acme", list: countedLists.lead }, [], pacedMaintenance(new Pace(1_000_000)));
  const { apiKey } = await issueApiKey("acme");
  const leadId = leads[0]?.id;
  const read = {
    command: "GetCommand",
    input: { TableName: tableName, Key: { pk: "a", sk: "b" } },
    calls: 1,
  };
  const events: Readonly<Record<string, object>> = {
    "list-leads": routeEvent("list-leads", { query: "status=new" }),
    // Another account's, so that the lists of this one stay as they are.
    "create-lead": routeEvent("create-lead", {
      ...{ account: "growing", body: { name: "Ada Lovelace", source: "fair" } },
    }),
    "list-conversations": routeEvent("list-conversations"),
    "send-message": routeEvent("send-message", { body: { leadId, channel: "email", message: "Hello" } }),
    authorize: authorizerEvent(`Bearer ${apiKey}`),
  };
  const candidates: readonly Candidate[] = [
    { ...(await reference("empty", join(here, "empty.ts"))), event: {} },
    { ...(await reference("bare SDK", join(here, "bare-sdk.ts"))), event: read },
    { ...(await reference("bare SDK, 4 calls", join(here, "bare-sdk.ts"))), event: { ...read, calls: 4 } },
    ...functionNames.map((name) => ({
      name,
      bundle: join(directory, name, "index.cjs"),
      ...(events[name] && { event: events[name] }),
    })),
  ];
  const limit = { RATE_LIMIT_REQUESTS: "6000", RATE_LIMIT_SECONDS: "60" };
  // Node would parse the certificates of this machine in each process. No function has these variables.
  const unset = { NODE_EXTRA_CA_CERTS: undefined, NODE_OPTIONS: undefined };
  const starts = measureStarts(candidates, rounds, { ...process.env, ...unset, ...limit });
  const results = candidates.map(({ name, bundle: file }) => ({
    ...{ name, bytes: statSync(file).size, starts: starts.get(name) ?? [] },
  }));
  const text = report(results, rounds, new Date().toISOString().slice(0, 10));
  console.log(text);
  await writeFile(join(import.meta.dirname, "../../docs/bench/start.md"), text);
} finally {
  await stop();
  await rm(dataDirectory, { recursive: true });
}
