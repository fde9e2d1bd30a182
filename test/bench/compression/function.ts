import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { decodedBody } from "../../support/decoded-body.ts";
import { lambdaContext, routeEvent } from "../../support/events.ts";
import type { BenchPage } from "./pages.ts";

type Handler = (event: object, context: object) => Promise<APIGatewayProxyStructuredResultV2>;

/** The function that lists leads, with a table of one page in another thread. */
export interface PageFunction {
  /** Sends the request, with this `Accept-Encoding`. */
  list(acceptEncoding: string): Promise<APIGatewayProxyStructuredResultV2>;
  stop(): Promise<unknown>;
}

/**
 * Loads a bundle of `list-leads`.
 *
 * @param file which is loaded once, and then has its own table
 * @throws Error when it does not respond with the page
 */
export async function startFunction(file: string, { name, leads, body }: BenchPage): Promise<PageFunction> {
  const table = new Worker(join(import.meta.dirname, "page-table.ts"), { workerData: leads });
  const [port] = await once(table, "message");
  Object.assign(process.env, {
    ...{ TABLE_NAME: "bench", AWS_REGION: "local", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}`,
  });
  // What is written to the log costs the same for every request.
  console.info = () => {};
  const { handler } = createRequire(import.meta.url)(file) as { readonly handler: Handler };
  const list = (acceptEncoding: string) => {
    const headers = { "accept-encoding": acceptEncoding };
    return handler(routeEvent("list-leads", { query: `limit=${leads.length}`, headers }), lambdaContext());
  };
  for (const acceptEncoding of ["identity", "gzip"]) {
    const response = await list(acceptEncoding);
    if (decodedBody(response) !== body) throw new Error(`The function did not respond with ${name}.`);
  }
  return { list, stop: () => table.terminate() };
}
