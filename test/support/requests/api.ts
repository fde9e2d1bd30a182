import { afterAll, inject, vi } from "vitest";
import { selectEngineTable } from "../../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../../lib/local/local-run.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { engineEndpoint } from "../setup/engine-endpoint.ts";
import { expectNothingSentIn } from "../setup/leaks.ts";
import { temporaryDirectory } from "../stack/temporary-directory.ts";
import type { Problem, ResponseBodies } from "./call.ts";
import { fetchChecked } from "./checked-fetch.ts";
import { noteSent } from "./sent.ts";

type Options = Pick<
  NonNullable<Parameters<typeof startLocal>[0]>,
  "maxEnvironments" | "faults" | "streams" | "templateDirectory" | "eventsUrl"
>;

/**
 * Starts the whole API over HTTP on the tests' engine: the deployed bundles behind the local gateway, by default without
 * streams. The API stops when the test file or suite that started it ends. Then its log must not contain anything that
 * `request` sent.
 */
export async function startApi(options: Options = {}) {
  const { assembly } = inject("engine");
  /** Every line that the run logged. */
  const log: string[] = [];
  const run = await startLocal({
    dataDirectory: await temporaryDirectory("api-", afterAll),
    streams: false,
    dynamodbEndpoint: engineEndpoint,
    templateDirectory: assembly,
    ...options,
    verbose: true,
    log: (line) => log.push(line),
  });
  selectEngineTable(run.dynamodbEndpoint, run.tableName);
  const stop = async () => {
    await run.stop();
    expectNothingSentIn(log);
  };
  // After thousands of requests, the check of the log takes minutes.
  afterAll(stop, 600_000);
  /** Issues a key for an account. No other test should use the name of the account. */
  const issueKey = issueApiKey;
  return { ...run, stop, log, issueKey };
}

interface HttpRequest {
  readonly apiKey: string;
  readonly query?: string;
  readonly body?: unknown;
  /** Headers in addition to those for the key and the body. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to a route and checks the response against docs/openapi.json; `body` is parsed. */
export const request = vi.defineHelper(
  async <Name extends RouteName>(
    { url }: { url: string },
    name: Name,
    { apiKey, query, body, headers = {} }: HttpRequest,
  ) => {
    noteSent(apiKey, [...new URLSearchParams(query)], body, headers["idempotency-key"]);
    const { method, path } = routes[name];
    const response = await fetchChecked(`${url}${path}${query === undefined ? "" : `?${query}`}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const parsed = await response.json();
    return {
      status: response.status,
      headers: response.headers,
      body: parsed as ResponseBodies[Name],
      problem: parsed as Problem,
    };
  },
);
