import { routes } from "../../shared/routes.ts";
import { type Framing, findFraming } from "./generators/framing.ts";
import type { FuzzRequest } from "./generators/request.ts";
import type { Wire } from "./generators/wire.ts";
import { resolve, toBytes, type World } from "./world.ts";

/** A request as bytes. */
export interface WireBytes {
  readonly bytes: Buffer;
  readonly framing: Framing;
  readonly body: Buffer;
}

/**
 * Encodes a request. After it comes one with the other account's key, which no server may take for a request.
 */
export function wireBytes(world: World, { route, who, ...sent }: FuzzRequest, wire: Wire): WireBytes {
  const { accounts } = world;
  const other = accounts[who === 0 ? 1 : 0];
  const { method, path } = routes[route];
  const fill = (text: string) =>
    resolve(world, who, text)
      .replaceAll("~method~", method)
      .replaceAll("~path~", path)
      .replaceAll(
        "~encoded~",
        path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
      )
      .replaceAll("~joined~", path.replace(/\/(?=[^/]*$)/, "%2F"))
      .replaceAll("~key~", accounts[who].apiKey)
      .replaceAll("~otherKey~", other.apiKey);
  const smuggled = `GET /api/v1/leads HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${other.apiKey}\r\n\r\n`;
  const body = toBytes(world, who, sent.body);
  const framing = findFraming(wire.framing.value)(body, Buffer.from(smuggled));
  const target = fill(wire.path.value) + (sent.query ? `?${fill(sent.query)}` : "");
  const head = [
    [fill(wire.method.value), target, wire.version.value].join(" "),
    ...wire.lines.value,
    ...wire.authorization.value.map((value) => `Authorization: ${fill(value)}`),
    ...sent.headers.map(([name, value]) => `${name}: ${fill(value)}`),
    ...sent.types.map((type) => `Content-Type: ${type}`),
    ...framing.headers,
    ...(framing.headers.some((line) => line.startsWith("Connection")) ? [] : ["Connection: close"]),
  ];
  return {
    bytes: Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), framing.payload]),
    framing,
    body,
  };
}
