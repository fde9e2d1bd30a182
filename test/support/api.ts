import { afterAll, expect, inject } from "vitest";
import { type LocalRun, startLocal } from "../../lib/local/local-run.ts";
import { type RouteName, routes } from "../../shared/routes.ts";
import type { Answers, Problem } from "./call.ts";
import { leaksIn } from "./leaks.ts";
import { noteSent, sent } from "./sent.ts";

/** The whole API over HTTP: the bundles that would be deployed, behind the local gateway. */
export interface TestApi extends LocalRun {
  /** Every line that the run logged. */
  readonly log: string[];
  /** Issues a key; accounts are told apart from those of other tests by this run's own prefix. */
  issueKey(account: string, options?: { validUntil?: string }): Promise<{ apiKey: string; keyId: string }>;
  keys(): Promise<typeof import("../../shared/domain/api-keys.ts")>;
}

type Options = Pick<
  NonNullable<Parameters<typeof startLocal>[0]>,
  "maxEnvironments" | "streams" | "throttling" | "dynamodbEndpoint" | "templateDirectory"
>;

/**
 * Starts the API on the tests' engine. Its stream is left out unless it is asked for: it would bring all that other
 * tests have written to the table. It stops by itself when the test file or the suite that calls it ends, if not
 * before; then nothing that `request` sent may be in its log.
 */
export async function startApi(options: Options = {}): Promise<TestApi> {
  const { endpoint, assembly } = inject("engine");
  const log: string[] = [];
  const run = await startLocal({
    streams: false,
    dynamodbEndpoint: endpoint,
    templateDirectory: assembly,
    throttling: false,
    ...options,
    log: (line) => log.push(line),
  });
  process.env.TABLE_NAME = run.tableName;
  const keys = () => import("../../shared/domain/api-keys.ts");
  const issueKey: TestApi["issueKey"] = async (account, given) => (await keys()).issueApiKey(account, given);
  const stop = async () => {
    await run.stop();
    expect(leaksIn(log, sent)).toEqual([]);
  };
  afterAll(stop);
  return { ...run, stop, log, keys, issueKey };
}

interface HttpRequest {
  readonly apiKey: string;
  readonly query?: string;
  readonly body?: unknown;
  /** Beside those of the key and the body. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to a route; `body` is its answer, parsed. */
export async function request<Name extends RouteName>(
  { url }: { url: string },
  name: Name,
  { apiKey, query, body, headers = {} }: HttpRequest,
) {
  noteSent(apiKey, query && Object.fromEntries(new URLSearchParams(query)), body, headers["idempotency-key"]);
  const { method, path } = routes[name];
  const response = await fetch(`${url}${path}${query === undefined ? "" : `?${query}`}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  return {
    status: response.status,
    headers: response.headers,
    body: answer as Answers[Name],
    problem: answer as Problem,
  };
}
