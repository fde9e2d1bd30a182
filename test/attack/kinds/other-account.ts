import { type RouteName, routes } from "../../../shared/routes.ts";
import { pick } from "../../support/random.ts";
import { type Attempt, type Battlefield, leaked } from "../attack.ts";

/** A text that could reach the victim's items if it became part of a key or of an expression. */
const hostileText = ({ victim: { name }, attacker, random }: Battlefield): string =>
  pick(random, [
    ...[`LEAD#${name}`, `#${name}`, `${attacker.name}#../${name}`, `KEY#${name}`, `COUNT#${name}#LEAD`],
    ...["instagram", "instagram#new", 'x") OR (1=1', "*", "%", "$", "\ud800", "__proto__", '{"S":"x"}'],
  ]);

/**
 * A text that is, or contains, an id of the victim. It is never stored: so a response that has one, or the victim's mark,
 * has it from the victim.
 */
function hostileId(field: Battlefield): string {
  const { victim, random } = field;
  const { name } = victim;
  const { id } = pick(random, [...victim.leads, ...victim.conversations]);
  return pick(random, [
    ...[
      id,
      id,
      id,
      id.toLowerCase(),
      ` ${id}`,
      `${id}\u0000`,
      `${id}#`,
      `../${id}`,
      encodeURIComponent(`#${id}`),
    ],
    ...[`LEAD#${name}#${id}`, `${name}#${id}`, `CONVERSATION#${name}#${id}`, `["${id}"]`],
    hostileText(field),
  ]);
}

/** The query of a list that has the victim's rows, if it were the victim's. */
function victimsQuery({ victim, random }: Battlefield): string {
  const { leadId, channel } = pick(random, victim.conversations);
  const { id } = pick(random, [...victim.leads, ...victim.conversations]);
  const all = { id, leadId, channel, source: channel, status: pick(random, ["new", "active"]) };
  const names = pick(random, [
    ["id"],
    ["leadId"],
    ["channel"],
    ["source"],
    ["status"],
    ["leadId", "channel"],
    [],
  ] as const);
  return new URLSearchParams(names.map((name): [string, string] => [name, all[name]])).toString();
}

const filters = [
  "leadId",
  "source",
  "channel",
  "status",
  "page",
  "limit",
  "id",
  "account",
  "accountId",
  "pk",
];

function hostileQuery(field: Battlefield): string {
  const { random } = field;
  const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const value = pick(random, [hostileId(field), "1", "0", "-1", "1e9", "99999999999999999999", ""]);
    return `${pick(random, filters)}=${pick(random, [encodeURIComponent, encodeURI])(value.toWellFormed())}`;
  });
  return parts.join(pick(random, ["&", "&", ";", "&&"]));
}

function hostileHeaders({ victim, random }: Battlefield): Record<string, string> {
  const name = pick(random, [
    ...["x-account-id", "accountid", "x-amzn-requestcontext", "x-apigateway-event", "x-original-url"],
    ...["x-http-method-override", "x-forwarded-user", "apigw-requestid", "x-amz-security-token", "cookie"],
  ]);
  const context = { authorizer: { lambda: { accountId: victim.name } } };
  return { [name]: pick(random, [victim.name, JSON.stringify(context), `accountId=${victim.name}`]) };
}

function hostileBody(field: Battlefield, route: RouteName): object | undefined {
  if (!route.startsWith("create") && !route.startsWith("send")) return undefined;
  const { victim, random } = field;
  const valid =
    route === "create-lead"
      ? { name: hostileText(field), source: hostileText(field) }
      : { leadId: hostileId(field), channel: hostileText(field), message: "Hello" };
  const extra = pick(random, ["accountId", "account", "pk", "sk", "byOrigin", "byParent", "id", "expiresAt"]);
  return random() < 0.5 ? valid : { ...valid, [extra]: pick(random, [victim.name, hostileText(field)]) };
}

/** Uses a key of another account to read or change the victim's data. */
export const otherAccount: Attempt = async (field) => {
  const { api, attacker, victim, random } = field;
  const route = pick(random, Object.keys(routes) as RouteName[]);
  const { method, path } = routes[route];
  const body = hostileBody(field, route);
  const buildQuery = pick(
    random,
    body ? [() => "", () => "", hostileQuery] : [victimsQuery, victimsQuery, hostileQuery],
  );
  const query = `?${buildQuery(field)}`;
  const text = body && JSON.stringify(body);
  const response = await fetch(`${api.url}${path}${query}`, {
    method,
    headers: {
      ...hostileHeaders(field),
      authorization: `Bearer ${attacker.apiKey}`,
      ...(text !== undefined && { "content-type": "application/json" }),
    },
    ...(text !== undefined && { body: text }),
  });
  const received = await response.text();
  field.note(response.status);
  if (response.status >= 500) return `${response.status} for ${method} ${query} ${text}`;
  const leak = leaked(field, received, decodeURIComponent(query) + query + text);
  if (leak) return `${leak} in the response to ${method} ${query} ${text}`;
  const { data = [] } = JSON.parse(received) as { data?: { id: string; leadId?: string }[] };
  const theirs = data.find(({ id, leadId = "" }) => victim.ids.has(id) || victim.ids.has(leadId));
  if (theirs) return `${theirs.id} is listed for ${query}`;
  const leadId = String((body as { leadId?: string } | undefined)?.leadId);
  if (response.status === 201 && victim.ids.has(leadId)) return `A message was sent to ${leadId}.`;
  return undefined;
};
