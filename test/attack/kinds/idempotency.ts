import { randomUUID } from "node:crypto";
import { request } from "../../support/api.ts";
import { pick } from "../../support/random.ts";
import type { Attempt } from "../attack.ts";

/**
 * Sends the victim's Idempotency-Key, or one that could reach the victim's record, with the victim's own body, before, after or
 * while the victim does.
 */
export const idempotency: Attempt = async ({ api, attacker, victim, random, note }) => {
  const key = randomUUID();
  const body = { name: victim.mark, source: "instagram" };
  const hostile = pick(random, [
    ...[key, `${victim.name}#${key}`, `${victim.name}%23${key}`, `../${victim.name}/${key}`],
    ...[`IDEMPOTENCY#${victim.name}#create-lead#${key}`, `create-lead#${key}`],
  ]);
  const send = (apiKey: string, idempotencyKey: string) =>
    request(api, "create-lead", { apiKey, body, headers: { "idempotency-key": idempotencyKey } });
  const own = () => send(victim.apiKey, key);
  const theirs = () => send(attacker.apiKey, hostile);
  const order = pick(random, ["before", "after", "at once"]);
  const early = order === "before" ? await theirs() : undefined;
  const [mine, attack] = await Promise.all(
    order === "after" ? [own(), own().then(theirs)] : [own(), early ?? theirs()],
  );
  note(attack.status);
  victim.leads.unshift(mine.body);
  victim.ids.add(mine.body.id);
  if (mine.status !== 201) return `${mine.status} for the victim`;
  if (attack.status === 201 && attack.body.id === mine.body.id)
    return `${hostile} returned the victim's lead`;
  if (attack.headers.has("idempotency-replayed")) return `${hostile} replayed a response`;
  return attack.status >= 500 ? `${attack.status} for ${hostile}` : undefined;
};
