import type { Verdict } from "./part.ts";

/** A body with the headers that frame it. */
export interface Framing {
  readonly verdict: Verdict;
  readonly headers: readonly string[];
  readonly payload: Buffer;
  /** The client closes its side, although the server may expect more. */
  readonly ends?: true;
  /** What follows may be read as further requests. */
  readonly mayContinue?: true;
}

type Frame = (body: Buffer, smuggled: Buffer) => Framing;

const length = (body: Buffer) => `Content-Length: ${body.length}`;
const chunk = (body: Buffer, extension = "") =>
  Buffer.concat([Buffer.from(`${body.length.toString(16)}${extension}\r\n`), body, Buffer.from("\r\n")]);
const chunked = (body: Buffer, trailer = "") =>
  Buffer.concat([...(body.length > 0 ? [chunk(body)] : []), Buffer.from(`0\r\n${trailer}\r\n`)]);
const encoding = "Transfer-Encoding: chunked";

const good = (headers: string[], payload: Buffer): Framing => ({ verdict: "valid", headers, payload });
const bad = (headers: string[], payload: Buffer): Framing => ({ verdict: "invalid", headers, payload });
const unclear = (headers: string[], payload: Buffer): Framing => ({ verdict: "any", headers, payload });
const broken = (headers: string[], payload: Buffer): Framing => ({ ...bad(headers, payload), ends: true });

const goodFramings: Record<string, Frame> = {
  length: (body) => good(body.length > 0 ? [length(body)] : [], body),
  "length with zeros": (body) => good([`content-length:  000${body.length}  `], body),
  chunked: (body) => good([encoding], chunked(body)),
  "many chunks": (body) => {
    const chunks = body.length > 1000 ? [] : [...body].map((byte) => chunk(Buffer.from([byte])));
    return good([encoding], Buffer.concat([...chunks, chunked(chunks.length > 0 ? Buffer.alloc(0) : body)]));
  },
  "chunks with extensions": (body) =>
    good(
      ["TRANSFER-ENCODING: Chunked"],
      Buffer.concat([...(body.length > 0 ? [chunk(body, ';a="b"')] : []), chunked(Buffer.alloc(0))]),
    ),
  "a trailer": (body) => good([encoding], chunked(body, "Content-Type: text/plain\r\nAuthorization: x\r\n")),
  "a request after the last": (body, smuggled) => good([length(body)], Buffer.concat([body, smuggled])),
};

/** Each could make two servers see different requests, so a server must reject it. */
const badFramings: Record<string, Frame> = {
  "two lengths": (body, smuggled) =>
    bad([length(body), "Content-Length: 0"], Buffer.concat([body, smuggled])),
  "two lengths, the first 0": (body, smuggled) =>
    bad(["Content-Length: 0", `Content-Length: ${smuggled.length}`], Buffer.concat([body, smuggled])),
  "a list of lengths": (body) => bad([`Content-Length: ${body.length}, ${body.length}`], body),
  "length and chunks": (body, smuggled) =>
    bad([length(body), encoding], Buffer.concat([chunked(body), smuggled])),
  "chunks and length": (body, smuggled) =>
    bad([encoding, "Content-Length: 3"], Buffer.concat([Buffer.from("0\r\n\r\n"), smuggled, body])),
  "length and odd chunks": (body, smuggled) =>
    bad([length(body), "Transfer-Encoding: xchunked"], Buffer.concat([body, smuggled])),
  "chunks not last": (body) => bad(["Transfer-Encoding: chunked, gzip"], chunked(body)),
  "chunks with a space before the colon": (body, smuggled) =>
    bad(["Transfer-Encoding : chunked", length(body)], Buffer.concat([body, smuggled])),
  "hexadecimal length": (body) => bad([`Content-Length: 0x${body.length.toString(16)}`], body),
  "negative length": (body) => bad(["Content-Length: -1"], body),
  "length with a sign": (body) => bad([`Content-Length: +${body.length}`], body),
  "exponential length": (body) => bad(["Content-Length: 1e1"], body),
  "endless length": (body) => bad([`Content-Length: ${"9".repeat(30)}`], body),
  "chunk of no size": () => bad([encoding], Buffer.from("zz\r\nab\r\n0\r\n\r\n")),
  "chunk of a negative size": () => bad([encoding], Buffer.from("-1\r\nab\r\n0\r\n\r\n")),
  "chunk larger than numbers": () => bad([encoding], Buffer.from("fffffffffffffffff1\r\nab\r\n0\r\n\r\n")),
  "chunk longer than its size": () => bad([encoding], Buffer.from("1\r\nabcdef\r\n0\r\n\r\n")),
  "endless chunk extension": (body) =>
    bad(
      [encoding],
      Buffer.concat([chunk(body.length > 0 ? body : Buffer.from("x"), `;${"x".repeat(40_000)}`)]),
    ),
  "less than its length": (body) => broken([`Content-Length: ${body.length + 10}`], body),
  "no last chunk": (body) => broken([encoding], body.length > 0 ? chunk(body) : Buffer.from("5\r\nab")),
};

const unclearFramings: Record<string, Frame> = {
  "no length": (body) => ({ ...unclear([], body), mayContinue: true }),
  "chunks twice": (body) => unclear(["Transfer-Encoding: chunked, chunked"], chunked(body)),
  "compressed chunks": (body) => unclear(["Transfer-Encoding: gzip, chunked"], chunked(body)),
  identity: (body) => unclear(["Transfer-Encoding: identity", length(body)], body),
  "expected to continue": (body) => unclear(["Expect: 100-continue", length(body)], body),
  "expected to do something else": (body) => unclear(["Expect: nonsense", length(body)], body),
  "upgrade to websocket": (body) =>
    unclear(
      ["Connection: close, upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", length(body)],
      body,
    ),
  "upgrade to h2c": (body) =>
    unclear(["Connection: close, upgrade, http2-settings", "Upgrade: h2c", length(body)], body),
};

export const framings = { good: goodFramings, bad: badFramings, unclear: unclearFramings };
export const findFraming = (name: string): Frame => {
  const frame = goodFramings[name] ?? badFramings[name] ?? unclearFramings[name];
  if (!frame) throw new Error(`Unknown framing "${name}".`);
  return frame;
};
