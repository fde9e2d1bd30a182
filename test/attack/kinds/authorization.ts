import { newApiKey } from "../../../shared/domain/api-key-format.ts";
import { pick } from "../../support/random.ts";
import { exchange, parseResponses } from "../../support/socket.ts";
import { type Attempt, type Battlefield, leaked } from "../attack.ts";

/** A text that resembles the victim's key, but is not it. */
function almostKey({ victim, attacker, random }: Battlefield): string {
  const { apiKey } = victim;
  const at = Math.floor(random() * apiKey.length);
  const parts = apiKey.split("_");
  const [prefix = "", id = "", secret = ""] = parts;
  return pick(random, [
    apiKey.slice(0, at) +
      pick(
        random,
        ["0", "1", "a", "Z"].filter((one) => one !== apiKey[at]),
      ) +
      apiKey.slice(at + 1),
    apiKey.slice(0, at),
    apiKey.slice(0, at) + apiKey.slice(at + 1),
    `${apiKey}${pick(random, ["0", "=", "%00", "_x", ",x", ";x"])}`,
    apiKey.toUpperCase(),
    `${prefix}_${id}`,
    `${prefix}_${id}_${secret}`,
    `${prefix}_${id}_${attacker.apiKey.split("_").slice(2).join("_")}`,
    newApiKey(id),
    newApiKey("0".repeat(26)),
    id,
    victim.name,
    Buffer.from(apiKey).toString("base64"),
    Buffer.from(apiKey).toString("hex"),
    "null",
    "undefined",
    "*",
    "' OR ''='",
    "KEY#",
    "x".repeat(Math.floor(random() * 6000)),
  ]);
}

/** Header lines, none of which authorizes anything. */
function hostileLines(field: Battlefield): readonly string[] {
  const { victim, random } = field;
  const { apiKey } = victim;
  const basic = `Basic ${Buffer.from(`x:${apiKey}`).toString("base64")}`;
  return pick(random, [
    [`Authorization: Bearer ${almostKey(field)}`],
    [`Authorization: Bearer ${almostKey(field)}`],
    [`Authorization: Bearer ${almostKey(field)}`],
    [`Authorization: ${apiKey}`],
    [`Authorization: Bearer${apiKey}`],
    [`Authorization: Bearer ${apiKey}, Bearer ${almostKey(field)}`],
    [`Authorization: Bearer "${apiKey}"`],
    [`Authorization: Bearer\u00a0${apiKey}`],
    [`Authorization: Token ${apiKey}`],
    [`Authorization: ${basic}`],
    [`Authorization: Bearer ${apiKey} ${apiKey}`],
    [`Authorization: Bearer ${almostKey(field)}`, `Authorization: Bearer ${apiKey}`],
    [`Proxy-Authorization: Bearer ${apiKey}`],
    [`X-Api-Key: ${apiKey}`],
    [`Cookie: authorization=Bearer ${apiKey}`],
    [],
  ]);
}

/** Uses what is not a key of the victim in place of it; one attempt in ten is the victim's own request, which must succeed. */
export const authorization: Attempt = async (field) => {
  const { api, victim, random } = field;
  const isVictim = random() < 0.1;
  const lines = isVictim ? [`Authorization: Bearer ${victim.apiKey}`] : hostileLines(field);
  const query = pick(
    random,
    isVictim ? [""] : ["", "", `?authorization=Bearer%20${victim.apiKey}`, `?apiKey=${victim.apiKey}`],
  );
  const head = [
    `GET /api/v1/leads${query} HTTP/1.1`,
    "Host: localhost",
    ...lines,
    "Connection: close",
    "",
    "",
  ];
  const bytes = Buffer.from(head.join("\r\n"), "latin1");
  const responses = parseResponses(await exchange(api.url, bytes), false);
  if (responses.length !== 1) return `${responses.length} responses to ${lines.join(" | ")}`;
  for (const { status, text } of responses) {
    field.note(status);
    if (isVictim)
      return status === 200 && text.includes(victim.mark) ? undefined : `${status} for the victim`;
    const leak = leaked(field, text, head.join());
    if (leak) return `${leak} in the response to ${lines.join(" | ")}`;
    // A header that is too long or has bytes that no header has is refused before that.
    if (![400, 401, 403, 431].includes(status)) return `${status} for ${lines.join(" | ")} ${query}`;
  }
  return undefined;
};
