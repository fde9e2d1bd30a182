import { gatewayMessages } from "../../../lib/gateway-messages.ts";
import { leads } from "../../contract/account.ts";
import type { HttpResponse } from "../../contract/client.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";

/** Checks responses of the gateway itself that the contract does not promise to callers. */
export const gateway: Phase = {
  name: "gateway",
  async *run(acceptance) {
    for (const [comparison, send] of requests) {
      acceptance.signal.throwIfAborted();
      const seen = await send(acceptance).then(describe, (error: unknown) => `no response (${error})`);
      acceptance.signal.throwIfAborted();
      yield compared(comparison, seen);
    }
    yield await throttled(acceptance);
  },
};

/** A response in short: its status, with the code of a function's problem or the message of the gateway. */
function describe({ status, body }: HttpResponse): string {
  const { message, code } = Object(body) as { message?: unknown; code?: unknown };
  return [status, code ?? message].filter((part) => part !== undefined).join(" ");
}

const describeOwn = (status: keyof typeof gatewayMessages) => `${status} ${gatewayMessages[status]}`;

type Send = (acceptance: Acceptance) => Promise<HttpResponse>;

/** The most bytes that a request line and its headers may have together. */
const headerLimit = 10_240;

const requests: readonly (readonly [ReturnType<typeof assumption>, Send])[] = [
  [
    assumption("header-limit", "A request line and headers of more than 10,240 bytes", "431"),
    async ({ mine }) => {
      const response = await mine.sendOnce({ path: leads, headers: { "x-filler": "x".repeat(headerLimit) } });
      return { ...response, body: undefined };
    },
  ],
  [
    assumption("header-limit", "A request line and headers of 9,000 bytes", "200"),
    ({ mine }) => mine.sendOnce({ path: leads, headers: { "x-filler": "x".repeat(8500) } }),
  ],
  [
    assumption("body-limit", "A body of 11 MB, which is more than the gateway takes", describeOwn(413)),
    ({ mine }) => mine.post(leads, "x".repeat(11_000_000)),
  ],
  [
    assumption("encoded-paths", "A path whose slash is encoded, as %2F", "200"),
    ({ mine }) => mine.sendOnce({ path: leads.replace(/\/(?=leads)/, "%2F") }),
  ],
  [
    assumption(
      "repeated-headers",
      "Two headers Authorization, which are joined with a comma",
      describeOwn(403),
    ),
    ({ mine, key }) =>
      mine.sendOnce({ path: leads, headers: { authorization: [`Bearer ${key}`, `Bearer ${key}`] } }),
  ],
  [
    assumption(
      "repeated-headers",
      "Two headers Idempotency-Key, which are joined with a comma",
      "400 invalid_input",
    ),
    ({ mine }) => mine.post(leads, { name: "Accept" }, { "idempotency-key": ["a", "b"] }),
  ],
];

/** The highest throttle that is tested, in requests at once and a second: a larger flood would disturb other callers. */
const mostThrottle = 500;

/** How many requests of the flood are sent at once, and for how long at most, in milliseconds. */
const flood = { connections: 200, atMost: 10_000 };

async function throttled(acceptance: Acceptance): Promise<Finding> {
  const { mine, settings, wait, signal } = acceptance;
  const expected = `${describeOwn(429)}, without Retry-After`;
  const comparison = assumption("gateway-429", "More requests at once than the throttle allows", expected);
  const { throttleBurst, throttleRate } = settings;
  if (Math.max(throttleBurst, throttleRate) > mostThrottle)
    return notSeen(comparison, `${throttleBurst} requests at once would disturb other callers`);
  const end = Date.now() + flood.atMost;
  let sent = 0;
  let refused: HttpResponse | undefined;
  const send = async () => {
    while (!refused && Date.now() < end && !signal.aborted) {
      sent++;
      const response = await mine.sendOnce({ path: `${leads}?limit=1` }).catch(() => undefined);
      if (response?.status === 429 && "message" in Object(response.body)) refused = response;
    }
  };
  await Promise.all(Array.from({ length: flood.connections }, send));
  // After this wait, the throttle lets requests pass again.
  await wait(2000);
  if (!refused) {
    const seconds = flood.atMost / 1000;
    const throttle = `${throttleBurst} at once and ${throttleRate} a second`;
    return notSeen(comparison, `${sent} requests from one machine in ${seconds} s do not exceed ${throttle}`);
  }
  const retryAfter = refused.headers["retry-after"];
  return compared(
    comparison,
    `${describe(refused)}, ${retryAfter ? `Retry-After: ${retryAfter}` : "without Retry-After"}`,
  );
}
