import { routes } from "../../../shared/routes.ts";
import { findFraming, framings } from "../../fuzz/generators/framing.ts";
import { pick } from "../../support/random.ts";
import { exchange, parseResponses } from "../../support/socket.ts";
import { type Attempt, leaked } from "../attack.ts";

/** Framings that close the connection themselves, or that the client ends. */
const unusable = new Set(["less than its length", "no last chunk", "a request after the last"]);

const names = (kind: keyof typeof framings) =>
  Object.keys(framings[kind]).filter((name) => !unusable.has(name));
const good = names("good");
const bad = names("bad");

/**
 * Sends a request on a connection on which the victim's follows, as behind a proxy that shares connections. If two servers
 * could disagree where the first request ends, the connection must end with it.
 */
export const framing: Attempt = async (field) => {
  const { api, attacker, victim, random } = field;
  const isBad = random() < 0.7;
  const name = pick(random, isBad ? bad : good);
  const body = Buffer.from(JSON.stringify({ name: "x".repeat(Math.floor(random() * 50) + 1) }));
  const theirs = `GET /api/v1/leads HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${victim.apiKey}\r\nConnection: close\r\n\r\n`;
  const { headers, payload } = findFraming(name)(body, Buffer.from(theirs));
  const { method, path } = routes["create-lead"];
  const lines = [
    ...[`${method} ${path} HTTP/1.1`, "Host: localhost", `Authorization: Bearer ${attacker.apiKey}`],
    ...["Content-Type: application/json", ...headers],
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  const bytes = Buffer.concat([head, payload, Buffer.from(theirs)]);
  const [first, ...rest] = parseResponses(await exchange(api.url, bytes), false);
  if (first) field.note(first.status);
  if (!first) return `${name}: no response`;
  const leak = leaked(field, first.text, "");
  if (leak) return `${name}: ${leak} in the response to the attacker`;
  if (isBad) {
    return first.status === 400 && rest.length === 0
      ? undefined
      : `${name}: ${first.status}, and ${rest.length} more responses`;
  }
  const [second, ...others] = rest;
  const isRight = first.status === 201 && second?.status === 200 && others.length === 0;
  return isRight ? undefined : `${name}: ${first.status}, then ${rest.map(({ status }) => status)}`;
};
