import { inject, onTestFinished } from "vitest";
import { useEngine } from "../../../../lib/local/engine/dynamodb-client.ts";
import { type LocalRun, startLocal } from "../../../../lib/local/local-run.ts";

/** Starts the whole service on an engine of its own; it stops at the end of the test. */
export async function startRun(
  dataDirectory: string,
  options: Pick<NonNullable<Parameters<typeof startLocal>[0]>, "eventsUrl" | "maxEnvironments" | "streams">,
) {
  const log: string[] = [];
  const run = await startLocal({
    ...options,
    dataDirectory,
    templateDirectory: inject("engine").assembly,
    throttling: false,
    log: (line) => log.push(line),
  });
  onTestFinished(() => run.stop());
  return { ...run, log };
}

/** Issues a key for the first run of a test file: the API's modules read the table's name and address only once. */
export async function issueKey({ tableName, dynamodbEndpoint }: LocalRun, account: string): Promise<string> {
  useEngine(dynamodbEndpoint, tableName);
  const { issueApiKey } = await import("../../../../shared/domain/api-keys.ts");
  return (await issueApiKey(account)).apiKey;
}
