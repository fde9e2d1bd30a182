import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

/** A table that accepts every write and stores nothing. */
const server = createServer((request, response) => {
  request.resume().once("end", () => {
    response.setHeader("content-type", "application/x-amz-json-1.0");
    response.end("{}");
  });
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
