import { gunzipSync } from "node:zlib";
import { conversations, leads } from "../account.ts";
import { type Check, type Context, promises, Skipped } from "../check.ts";
import { type HttpResponse, posting } from "../client.ts";
import { expectMatch, expectResponse, Failure } from "../expectations.ts";

/** Responses of functions, with each usual status. */
const ofFunctions = async ({ mine }: Context): Promise<HttpResponse[]> => [
  await mine.get(leads),
  await mine.get(conversations),
  await mine.post(leads, { name: "Ada" }),
  await mine.get(`${leads}?page=0`),
  await mine.post(conversations, { leadId: "lead_nobody", channel: "web", message: "Hello" }),
  await mine.post(leads, "x", { "content-type": "text/plain" }),
];

const acceptsGzip = { "accept-encoding": "br, GZIP;q=0.5" };

/** Responses of the gateway itself. */
const ofGateway = async ({ mine, anonymous }: Context): Promise<HttpResponse[]> => [
  await anonymous.get(leads, acceptsGzip),
  await anonymous.get(leads, { ...acceptsGzip, authorization: "Bearer x" }),
  await mine.get("/api/v1/nothing", acceptsGzip),
];

const eachHas =
  (expected: (response: HttpResponse) => object): Check["run"] =>
  async (context) => {
    for (const response of await ofFunctions(context))
      expectMatch(response.request, response, expected(response));
  };

const eachHasHeader = (name: string, value: unknown) => eachHas(() => ({ headers: { [name]: value } }));

/** The numbers of the `RateLimit` headers. @throws Skipped if the deployment has no limit */
function readRateLimit({ request, headers }: HttpResponse) {
  const { "ratelimit-policy": policy, ratelimit } = headers;
  if (policy === undefined && ratelimit === undefined) throw new Skipped("this deployment has no rate limit");
  const [, q, w] = /^"account";q=([1-9]\d*);w=([1-9]\d*)$/.exec(String(policy)) ?? [];
  const [, r, t] = /^"account";r=(\d+);t=([1-9]\d*)$/.exec(String(ratelimit)) ?? [];
  const limit = { q: Number(q), w: Number(w), r: Number(r), t: Number(t) };
  if (limit.r <= limit.q && limit.t <= limit.w) return limit;
  throw new Failure(request, '"account";q=<q>;w=<w> and "account";r=<r>;t=<t>', [policy, ratelimit]);
}

/** How many requests may pass beyond a limit: environments have leased some before. */
const leased = 100;

/** A response of more than 1,024 bytes. */
const large = posting(leads, { name: "Ada", tags: Array(50).fill("") });

export const responseChecks = [
  ...promises("docs/openapi.json#/components/headers/CacheControl", {
    "No cache may keep a response of a function": eachHasHeader("cache-control", "no-store"),
  }),
  ...promises("docs/openapi.json#/components/headers/Vary", {
    "Responses of functions say that they vary by Accept-Encoding": eachHasHeader("vary", "Accept-Encoding"),
  }),
  ...promises("docs/openapi.json#/components/headers/RequestId", {
    "Every response has an id of its own": async (context) => {
      const responses = [...(await ofFunctions(context)), ...(await ofGateway(context))];
      const ids = responses.map(({ headers }) => headers["apigw-requestid"]);
      expectMatch("the ids", ids, Array(ids.length).fill(/./));
      expectMatch("different ids", new Set(ids).size, ids.length);
    },
  }),
  ...promises("docs/errors.md#errors", {
    "An error of a function is a problem, with the id of its request": eachHas((response) => {
      const { status, body, headers } = response;
      if (status < 400) return { headers: { "content-type": /^application\/json\b/ } };
      const type = new RegExp(`^(?:urn:problem-type:|https://.+#)${Object(body).code}$`);
      const texts = { code: /^[a-z_]+$/, title: /./, detail: /\.$/, requestId: headers["apigw-requestid"] };
      return { headers: { "content-type": "application/problem+json" }, body: { type, status, ...texts } };
    }),
  }),
  ...promises("docs/errors.md#errors-of-the-gateway", {
    "An error of the gateway has only a message, and is never compressed": async (context) => {
      const plain = {
        "content-type": /^application\/json\b/,
        "content-encoding": undefined,
        vary: undefined,
      };
      for (const { request, headers, body } of await ofGateway(context)) {
        expectMatch(request, headers, plain);
        expectMatch(request, Object.keys(Object(body)), ["message"]);
      }
    },
    "A body of more than 6 MB returns 413": async ({ mine }) => {
      const response = await mine.post(leads, `{"name":"${"x".repeat(7_000_000)}"}`);
      expectResponse(response, { status: 413, body: { message: "Request Entity Too Large" } });
    },
  }),
  ...promises("lib/openapi/guides.md#lists-and-filters", {
    "A response has the time of the service": eachHasHeader("date", / GMT$/),
  }),
  ...promises("docs/usage.md#pages", {
    "Responses from 1,024 bytes are compressed for callers that accept gzip": async ({ mine }) => {
      await mine.createLead({ tags: Array(50).fill("t".repeat(64)) });
      for (const sending of [{ path: `${leads}?limit=1` }, large]) {
        const headers = { ...sending.headers, ...acceptsGzip };
        const [plain, compressed] = [await mine.send(sending), await mine.send({ ...sending, headers })];
        expectMatch("the plain response", plain.headers, { "content-encoding": undefined });
        expectMatch("the compressed response", compressed.headers, { "content-encoding": "gzip" });
        expectMatch("its length in full", gunzipSync(compressed.bytes).length, plain.bytes.length);
        const { requestId: _, ...body } = Object(plain.body);
        expectMatch("its body", compressed.body, body);
      }
    },
  }),
  ...promises("docs/openapi.json#/components/headers/ContentEncoding", {
    "Short responses, and those to callers that do not accept gzip, are plain": async ({ mine }) => {
      const responses = [await mine.get(`${leads}?page=0`, acceptsGzip)];
      for (const encoding of ["identity", "gzip;q=0", "br"])
        responses.push(await mine.post(large.path, large.body, { "accept-encoding": encoding }));
      for (const { request, headers } of responses)
        expectMatch(request, headers, { "content-encoding": undefined });
    },
  }),
  ...promises("docs/usage.md#rate-limits", {
    "Each response of a function reports the rate limit of its account": async (context) => {
      for (const response of await ofFunctions(context)) readRateLimit(response);
    },
    "Past its limit, an account gets 429 until the window ends, and no other does": async (context) => {
      const { limited, mine } = context;
      if (!limited) throw new Skipped("needs --limited-key");
      let response = await limited.sendOnce({ path: leads });
      const { q, w } = readRateLimit(response);
      // A 429 without a code is the throttle of all accounts.
      const isBefore = ({ status, body }: typeof response) =>
        status === 200 || (status === 429 && !("code" in Object(body)));
      for (let n = 0; n < q + leased && isBefore(response); n++)
        response = await limited.sendOnce({ path: leads });
      const body = { code: "rate_limited", title: "Rate limit used up" };
      expectResponse(response, { status: 429, headers: { "retry-after": /^[1-9]\d*$/ }, body });
      const seconds = Number(response.headers["retry-after"]);
      const rest = w - ((Date.parse(String(response.headers.date)) / 1000) % w);
      if (Math.abs(seconds - rest) > 2) throw new Failure("Retry-After", `about ${rest}`, seconds);
      expectMatch("its rate limit", readRateLimit(response), { r: 0, t: seconds });
      await mine.count(leads);
    },
  }),
];
