import { once } from "node:events";
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { errorCode } from "../../errors.ts";
import { gatewayResponse } from "./http-response.ts";
import { createRequestId } from "./request-event.ts";

/** Makes a server respond where Node.js would only close the connection: malformed HTTP, oversized headers, CONNECT. */
export function rejectMalformedHttp(server: Server): void {
  const pending = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on("request", ({ socket }, response) => {
    const responses = pending.get(socket) ?? new Set<ServerResponse>();
    pending.set(socket, responses.add(response));
    response.once("close", () => responses.delete(response));
  });
  server.on("connect", (_request, socket) => {
    closeWith(socket, 404);
    // The server no longer handles this connection, but would wait for its end when it closes.
    socket.once("finish", () => socket.destroy());
  });
  server.on("clientError", async (error, socket) => {
    // Complete requests before this one get their responses first, or the client would match this response to them.
    const earlier = [...(pending.get(socket) ?? [])].filter(({ req }) => req.complete);
    await Promise.all(earlier.map((response) => once(response, "close")));
    if (socket.writable) closeWith(socket, errorCode(error) === "HPE_HEADER_OVERFLOW" ? 431 : 400);
    else if (earlier.length === 0) socket.destroy();
  });
}

/** Sends a response and closes the connection. */
function closeWith(socket: Duplex, status: 400 | 404 | 431): void {
  const { body } = gatewayResponse(status);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    `apigw-requestid: ${createRequestId()}`,
    "connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}
