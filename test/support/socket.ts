import { connect } from "node:net";
import { decodedText } from "./decoded-body.ts";

/** A parsed HTTP response. */
export interface RawResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded, if the body is compressed. */
  readonly text: string;
}

/** How long a response may take, in milliseconds. */
const timeout = 10_000;

/**
 * Sends raw bytes, and reads until the server closes the connection.
 *
 * @throws Error when the server neither responds nor closes
 */
export async function exchange(url: string, bytes: Buffer | string): Promise<Buffer> {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  socket.setTimeout(timeout, () => socket.destroy(new Error("The server did not respond.")));
  socket.write(bytes);
  const received: Buffer[] = [];
  try {
    for await (const chunk of socket) received.push(chunk);
  } catch (error) {
    // The server may close after its response before it has read everything.
    if (received.length === 0 || !isReset(error)) throw error;
  }
  return Buffer.concat(received);
}

const isReset = (error: unknown) =>
  error instanceof Error && "code" in error && ["ECONNRESET", "EPIPE"].includes(String(error.code));

/**
 * Parses the responses in the bytes, each with exactly the body that it announces.
 *
 * @throws Error when bytes are left over
 */
export function parseResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n\r\n", at);
    const [first = "", ...lines] = bytes.toString("latin1", at, end).split("\r\n");
    const [, status] = /^HTTP\/1\.1 (\d{3}) [A-Za-z ]+$/.exec(first) ?? [];
    if (end < 0 || !status)
      throw new Error(`Not a response: ${JSON.stringify(bytes.toString("latin1", at))}`);
    at = end + 4;
    const headers = parseHeaders(lines);
    const length = Number(headers["content-length"]);
    if (!(at + length <= bytes.length)) throw new Error(`The body is truncated: ${first}`);
    const text = decodedText(bytes.subarray(at, at + length), headers["content-encoding"]);
    responses.push({ status: Number(status), headers, text });
    at += length;
  }
  return responses;
}

function parseHeaders(lines: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = "", value = ""] = /^([a-z-]+): ([\x20-\x7e]*)$/i.exec(line) ?? [];
    if (!name || headers.has(name.toLowerCase())) throw new Error(`Not a header: ${JSON.stringify(line)}`);
    headers.set(name.toLowerCase(), value);
  }
  return Object.fromEntries(headers);
}
