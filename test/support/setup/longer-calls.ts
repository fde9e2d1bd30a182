import { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterAll } from "vitest";
import { engineEndpoint } from "./engine-endpoint.ts";

/** How long a call to the engine may take, in milliseconds: longer than the second that functions give it. */
const requestTimeout = 30_000;

const enginePort = Number(new URL(engineEndpoint).port);

// A busy machine or a slow engine must not fail a test. Calls to a proxy that injects faults keep the limits under test, and
// bundles keep the limits of their own code.
const { handle } = NodeHttpHandler.prototype;
NodeHttpHandler.prototype.handle = function (request, options) {
  return handle.call(this, request, request.port === enginePort ? { ...options, requestTimeout } : options);
};
afterAll(() => {
  NodeHttpHandler.prototype.handle = handle;
});
