import { type Account, conversations, leads, type Query, unique } from "../account.ts";
import { type Check, promises, Skipped } from "../check.ts";
import { type HttpResponse, posting, type Sending } from "../client.ts";
import { expectMatch, expectResponse } from "../expectations.ts";

const gatewayMessages = { 401: "Unauthorized", 403: "Forbidden", 404: "Not Found" };

type Status = keyof typeof gatewayMessages;

/** Expects a response of the gateway. It has another shape than a response of a function, and no body for HEAD. */
function expectGateway(response: HttpResponse, status: Status) {
  const headers = { "apigw-requestid": /./, "content-encoding": undefined };
  const body = response.request.startsWith("HEAD ") ? undefined : { message: gatewayMessages[status] };
  expectResponse(response, { status, headers, body });
}

/** Requests of docs/errors.md that the gateway refuses: request lines, or the only header of a request for a list. */
const slips: Readonly<Record<Status, readonly string[]>> = {
  404: [
    "GET /api/v1/leads/",
    "GET //api/v1/leads",
    "GET /API/v1/leads",
    "GET /api/v1/Leads",
    "GET /v1/leads",
    "GET /api/leads",
    "GET /api/v2/leads",
    "GET /api/v1/leads/lead_1",
    "GET /api/v1/leads/lead_1/conversations",
    "POST /api/v1/messages",
    "GET /api/v1/messages",
    ...["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((method) => `${method} /api/v1/leads`),
  ],
  401: ["Authorization:", "X-API-Key: <API_KEY>", "Proxy-Authorization: Bearer <API_KEY>"],
  403: [
    "Authorization: <API_KEY>",
    "Authorization: Basic <API_KEY>",
    "Authorization: Token <API_KEY>",
    'Authorization: Bearer "<API_KEY>"',
    "Authorization: Bearer: <API_KEY>",
  ],
};

const slipsReturn =
  (status: Status): Check["run"] =>
  async ({ mine, anonymous, key }) => {
    for (const request of slips[status]) {
      const [, method, path = ""] = /^([A-Z]+) (\/.*)$/.exec(request) ?? [];
      const [, name = "", value = ""] = /^([A-Za-z-]+): ?(.*)$/.exec(request) ?? [];
      const header = { [name]: value.replace("<API_KEY>", key) };
      const response = method ? await mine.send({ method, path }) : await anonymous.get(leads, header);
      expectGateway(method ? response : { ...response, request: `${request} ` }, status);
    }
  };

/** A message to a lead that no account has. */
const message = { leadId: "lead_nobody", channel: "web", message: "Hello" };

/** A request of each route. */
const everyRoute: readonly Sending[] = [
  { path: leads },
  { path: conversations },
  posting(leads, { name: "Ada" }),
  posting(conversations, message),
];

/** Expects every route to refuse these Authorization headers. */
const everyRouteRefuses =
  (status: Status, authorizations: (key: string) => readonly (string | undefined)[]): Check["run"] =>
  async ({ anonymous, mine, key }) =>
    mine.expectNothingStored(async () => {
      for (const authorization of authorizations(key)) {
        for (const sending of everyRoute) {
          const headers = { ...sending.headers, ...(authorization !== undefined && { authorization }) };
          expectGateway(await anonymous.send({ ...sending, headers }), status);
        }
      }
    });

const readingOnly =
  (run: (readOnly: Account, mine: Account) => Promise<void>): Check["run"] =>
  async ({ readOnly, mine }) => {
    if (!readOnly) throw new Skipped("needs --read-only-key");
    await run(readOnly, mine);
  };

function expectInsufficient(response: HttpResponse, detail = /only read/) {
  const headers = { "content-type": "application/problem+json" };
  const body = { code: "insufficient_access", detail, errors: undefined };
  expectResponse(response, { status: 403, headers, body });
}

export const accessChecks = [
  ...promises("docs/errors.md#usual-slips", {
    "An unknown route, path or method returns 404, also HEAD and OPTIONS": slipsReturn(404),
    "A request without an Authorization header returns 401": slipsReturn(401),
    "A key without the scheme Bearer returns 403": slipsReturn(403),
    "Bearer and the names of headers are accepted in any letter case": async ({ anonymous, key }) => {
      expectResponse(await anonymous.get(leads, { AUTHORIZATION: `bearer ${key}` }), { status: 200 });
      expectResponse(await anonymous.get(leads, { authorization: `BEARER ${key}` }), { status: 200 });
    },
  }),
  ...promises("docs/errors.md#errors-of-the-gateway", {
    "Every route returns 401 without a key": everyRouteRefuses(401, () => [undefined, ""]),
    "Every route returns 403 with an invalid key": everyRouteRefuses(403, (key) => [
      "Bearer nonsense",
      `Bearer ${key}x`,
      `Bearer ${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`,
      `Bearer ${key},Bearer ${key}`,
    ]),
  }),
  ...promises("docs/usage.md#using-the-api", {
    "A key that may only read can list what its account has": readingOnly(async (readOnly, mine) => {
      const { id } = await mine.createLead();
      await readOnly.expectRows(leads, { id }, [id]);
      for (const path of [leads, conversations])
        expectMatch(`the total of ${path}`, await readOnly.count(path), await mine.count(path));
    }),
    "A key that may only read gets 403 for any POST, which stores nothing": readingOnly(
      async (readOnly, mine) => {
        const { id: leadId } = await mine.createLead();
        await mine.expectNothingStored(async () => {
          expectInsufficient(await readOnly.post(leads, { name: "Ada" }));
          expectInsufficient(await readOnly.post(conversations, { ...message, leadId }));
          expectInsufficient(await readOnly.post(`${leads}?page=0`, "{"));
          expectInsufficient(await readOnly.post(leads, "x", { "content-type": "text/plain" }));
        });
      },
    ),
  }),
  ...promises("docs/errors.md#problem-codes", {
    "A key that may only create leads creates them, and gets 403 for anything else, valid or not": async ({
      mine,
      creating,
    }) => {
      if (!creating) throw new Skipped("needs --create-key");
      const { id, ...lead } = await creating.createLead({ externalId: unique("form") });
      await mine.expectRows(leads, { id }, [id]);
      expectResponse(await creating.post(leads, lead), { status: 400 });
      await mine.expectNothingStored(async () => {
        for (const sending of [
          ...[{ path: `${leads}?id=${id}` }, { path: `${conversations}?x=1` }],
          posting(`${leads}?ifExists=update`, { id, name: "Eve" }),
          ...[posting(`${leads}?ifExists=`, "{"), posting(conversations, { ...message, leadId: id })],
        ])
          expectInsufficient(await creating.send(sending), /only create/);
      });
    },
  }),
  ...promises("SECURITY.md#a-caller-with-the-key-of-another-account", {
    "No list shows the lead of another account, by any filter": async ({ mine, other }) => {
      const source = unique("secret");
      const email = `${source}@example.com`;
      const { id, createdAt } = await mine.createLead({ source, email });
      const own: Query[] = [{ id }, { source }, { email }, { source, status: "new", email }];
      for (const query of own) await mine.expectIndexed(leads, query, [id]);
      for (const query of own) await other.expectRows(leads, query, []);
      for (const query of [{}, { status: "new" }, { createdAfter: createdAt }] as Query[]) {
        const { data } = await other.list(leads, query);
        const seen = data.find((lead) => lead.id === id);
        expectMatch(`${id} in the other account`, seen, undefined);
      }
    },
    "No list shows the conversation of another account, by any filter": async ({ mine, other }) => {
      const [channel, { id: leadId }] = [unique("secret"), await mine.createLead()];
      const { conversationId: id } = await mine.sendMessage(leadId, channel);
      const own: Query[] = [{ id }, { leadId }, { channel }, { leadId, channel, status: "active" }];
      for (const query of own) await mine.expectIndexed(conversations, query, [id]);
      for (const query of own) await other.expectRows(conversations, query, []);
      const { data } = await other.list(conversations);
      const seen = data.find((conversation) => conversation.id === id);
      expectMatch(`${id} in the other account`, seen, undefined);
    },
    "A message to another account's lead returns 404, as to an unknown lead": async ({ mine, other }) => {
      const { id: leadId } = await mine.createLead();
      const unknown = await other.post(conversations, message);
      const body = expectResponse<object>(unknown, { status: 404, body: { code: "lead_not_found" } });
      const theirs = await other.post(conversations, { ...message, leadId });
      expectResponse(theirs, { status: 404, body: { ...body, requestId: /./ } });
      for (const client of [mine, other]) await client.expectRows(conversations, { leadId }, []);
    },
  }),
  ...promises("docs/deploying.md#calls-from-browsers", {
    "No page can read a response if its origin is not listed": async ({ mine, anonymous }) => {
      const origin = `https://${unique("page")}.example`;
      const headers = { origin, "access-control-request-method": "GET" };
      for (const response of [
        await mine.get(leads, { origin }),
        await anonymous.send({ method: "OPTIONS", path: leads, headers }),
      ])
        expectMatch(response.request, response.headers, { "access-control-allow-origin": undefined });
    },
  }),
];
