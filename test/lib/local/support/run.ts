import { inject, onTestFinished } from "vitest";
import { selectEngineTable } from "../../../../lib/local/engine/dynamodb-client.ts";
import { type LocalRun, startLocal } from "../../../../lib/local/local-run.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";

/** Starts the whole service on an engine of its own; it stops at the end of the test. */
export async function startRun(
  dataDirectory: string,
  options: Pick<NonNullable<Parameters<typeof startLocal>[0]>, "eventsUrl" | "maxEnvironments">,
) {
  const log: string[] = [];
  const run = await startLocal({
    ...options,
    dataDirectory,
    templateDirectory: inject("engine").assembly,
    enginePort: 0,
    throttling: false,
    log: (line) => log.push(line),
  });
  onTestFinished(() => run.stop());
  return { ...run, log };
}

/** Issues a key for an account of the run. */
export async function issueKey({ tableName, dynamodbEndpoint }: LocalRun, account: string): Promise<string> {
  selectEngineTable(dynamodbEndpoint, tableName);
  return (await issueApiKey(account)).apiKey;
}
