import { once } from "node:events";
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { errorCode } from "../../errors.ts";
import { gatewayResponse } from "./http-response.ts";
import { newRequestId } from "./request-event.ts";

/** Has a server answer what Node has no response for: what is no HTTP, headers that are too large, CONNECT. */
export function rejectMalformedHttp(server: Server): void {
  const unanswered = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on("request", ({ socket }, response) => {
    const responses = unanswered.get(socket) ?? new Set();
    unanswered.set(socket, responses.add(response));
    response.once("close", () => responses.delete(response));
  });
  server.on("connect", (_request, socket) => {
    endWith(socket, 404);
    // The server has let go of this connection, and yet would wait for its end when it stops.
    socket.once("finish", () => socket.destroy());
  });
  server.on("clientError", async (error, socket) => {
    // Requests that came whole before this are answered first, or their client would take this for their answer.
    const earlier = [...(unanswered.get(socket) ?? [])].filter(({ req }) => req.complete);
    await Promise.all(earlier.map((response) => once(response, "close")));
    if (socket.writable) endWith(socket, errorCode(error) === "HPE_HEADER_OVERFLOW" ? 431 : 400);
    else if (earlier.length === 0) socket.destroy();
  });
}

/** Answers and closes the connection. */
function endWith(socket: Duplex, status: 400 | 404 | 431): void {
  const { body } = gatewayResponse(status);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    `apigw-requestid: ${newRequestId()}`,
    "connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}
