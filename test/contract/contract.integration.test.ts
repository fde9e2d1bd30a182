import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { writeLimit } from "../../lib/ops/accounts/account-limit.ts";
import { startApi } from "../support/api.ts";
import { Account } from "./account.ts";
import { type Context, runCheck } from "./check.ts";
import { checks } from "./checks.ts";
import { Client } from "./client.ts";

const api = await startApi({ maxEnvironments: 4 });
const [account, limited] = [randomUUID(), randomUUID()];
await writeLimit({ account: limited, requests: 20 });

const issue = async (of: string, access: "full" | "read" = "full") =>
  (await api.issueKey(of, { access })).apiKey;
const key = await issue(account);

const context: Context = {
  mine: new Account(api.url, key),
  other: new Account(api.url, await issue(randomUUID())),
  anonymous: new Client(api.url),
  key,
  readOnly: new Account(api.url, await issue(account, "read")),
  limited: new Client(api.url, await issue(limited)),
  shared: new Map(),
};

/** Checks that are skipped if no response of the run asked for a retry. */
const mayBeSkipped = "A function that asks for a retry says after how many seconds";

test.each(checks)("$promise ($page)", async (check) => {
  const { outcome, reason } = await runCheck(check, context);
  if (outcome === "skipped") expect(check.promise, reason).toBe(mayBeSkipped);
  else expect(outcome, reason).toBe("ok");
});
