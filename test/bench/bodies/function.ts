import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { lambdaContext, routeEvent } from "../../support/events.ts";
import type { BenchRequest } from "./requests.ts";

type Handler = (event: object, context: object) => Promise<{ readonly statusCode: number }>;

/** Loads the bundle of a function, with a table in another thread. */
export async function startFunction(file: string) {
  const table = new Worker(join(import.meta.dirname, "accepting-table.ts"));
  const [port] = await once(table, "message");
  Object.assign(process.env, {
    ...{ TABLE_NAME: "bench", AWS_REGION: "local", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}`,
  });
  // What is written to the log costs the same for every request.
  console.info = () => {};
  const { handler } = createRequire(import.meta.url)(file) as { readonly handler: Handler };
  return { handler, stop: () => table.terminate() };
}

/** How often a request is sent for one measurement: the processor time of a thread is counted in steps of milliseconds. */
const batch = 20;

/**
 * Invokes the handler as Lambda does, with the event as JSON.
 *
 * @returns the processor time of one request in the function's thread, in milliseconds
 */
export async function measure(
  handler: Handler,
  { name, status, body, query = "", headers = {} }: BenchRequest,
): Promise<number> {
  const payload = JSON.stringify(routeEvent("create-lead", { body, query, headers }));
  const before = process.threadCpuUsage();
  for (let n = 0; n < batch; n++) {
    const { statusCode } = await handler(JSON.parse(payload), lambdaContext());
    if (statusCode !== status) throw new Error(`The request "${name}" has got ${statusCode}, not ${status}.`);
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000 / batch;
}
