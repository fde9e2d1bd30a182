import { NodeHttpHandler } from "@smithy/node-http-handler";

/** How long a call to the engine may take, in milliseconds: longer than the second that functions give it. */
const requestTimeout = 30_000;

const enginePort = Number(new URL(process.env.DYNAMODB_ENDPOINT ?? "").port);

// `--import` loads this module into the processes of the tests. Calls to a proxy that injects faults keep the limits that
// it tests, and the bundles those of their own code.
const { handle } = NodeHttpHandler.prototype;
NodeHttpHandler.prototype.handle = function (request, options) {
  return handle.call(this, request, request.port === enginePort ? { ...options, requestTimeout } : options);
};
