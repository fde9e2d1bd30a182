/**
 * Tries the OpenAPI document on the tools that clients use, against the local API.
 *
 * Usage: npm run test:generators [-- <another OpenAPI document>]
 */
import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { selectEngineTable } from "../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../lib/local/local-run.ts";
import { issueApiKey } from "../../lib/ops/keys/api-key-changes.ts";
import { generators } from "./generators.ts";
import { lintWithRedocly, lintWithSpectral } from "./linters.ts";
import { comparePatterns } from "./patterns.ts";
import { type Result, report } from "./report.ts";
import { tryGenerator } from "./try-generator.ts";
import type { Access } from "./try-routes.ts";

const document = resolve(process.argv[2] ?? join(import.meta.dirname, "../../docs/openapi.json"));

await using run = await startApi();

async function startApi(): Promise<AsyncDisposable & { access(): Promise<Access> }> {
  const { url, dynamodbEndpoint, tableName, stop } = await startLocal({ log: () => {} });
  selectEngineTable(dynamodbEndpoint, tableName);
  const access = async () => ({ url, apiKey: (await issueApiKey(randomUUID())).apiKey });
  return { access, [Symbol.asyncDispose]: stop };
}

const clients: Result[] = [];
for (const generator of generators) clients.push(await tryGenerator(generator, document, await run.access()));
report("Generated clients", clients);

const lint = (tool: string, errors: readonly string[]): Result => ({
  ok: errors.length === 0,
  row: { tool, problems: String(errors.length) },
  errors,
});
report("Linters", [
  lint("redocly recommended-strict", await lintWithRedocly(document)),
  lint("spectral:oas", await lintWithSpectral(document)),
]);

report("Patterns, compared with JavaScript", await comparePatterns(document));
