import { connect } from "node:net";

/** An answer as it came. */
export interface RawResponse {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** How long an answer may take, in milliseconds. */
const patience = 10_000;

/**
 * Sends bytes as they are, and reads until the server closes the connection.
 *
 * @param ends whether the client closes its side at once
 * @throws Error when the server neither answers nor closes
 */
export async function exchange(url: string, bytes: Buffer | string, ends = false): Promise<Buffer> {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  socket.setTimeout(patience, () => socket.destroy(new Error("The server did not answer.")));
  if (ends) socket.end(bytes);
  else socket.write(bytes);
  const received: Buffer[] = [];
  try {
    for await (const chunk of socket) received.push(chunk);
  } catch (error) {
    // The server may close before it has read all, when it has answered.
    if (received.length === 0 || !isReset(error)) throw error;
  }
  return Buffer.concat(received);
}

const isReset = (error: unknown) =>
  error instanceof Error && "code" in error && ["ECONNRESET", "EPIPE"].includes(String(error.code));

/**
 * The answers among the bytes, each with exactly the body that it announces.
 *
 * @param toHead whether they answer HEAD, so that they have a body only where the server did not get to know that
 * @throws Error when something is left over
 */
export function parseResponses(bytes: Buffer, toHead = false): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n\r\n", at);
    const [first = "", ...lines] = bytes.toString("latin1", at, end).split("\r\n");
    const [, status] = /^HTTP\/1\.1 (\d{3}) [A-Za-z ]+$/.exec(first) ?? [];
    if (end < 0 || !status) throw new Error(`No answer: ${JSON.stringify(bytes.toString("latin1", at))}`);
    at = end + 4;
    if (status === "100") continue;
    const headers = headersOf(lines);
    const length = toHead && bytes[at] !== 0x7b ? 0 : Number(headers["content-length"]);
    if (!(at + length <= bytes.length)) throw new Error(`The body is cut: ${first}`);
    responses.push({ status: Number(status), headers, text: bytes.toString("utf8", at, at + length) });
    at += length;
  }
  return responses;
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = "", value = ""] = /^([a-z-]+): ([\x20-\x7e]*)$/i.exec(line) ?? [];
    if (!name || headers.has(name.toLowerCase())) throw new Error(`No header: ${JSON.stringify(line)}`);
    headers.set(name.toLowerCase(), value);
  }
  return Object.fromEntries(headers);
}
