import { parseArgs } from "node:util";
import { Account } from "./account.ts";
import { runCheck } from "./check.ts";
import { checks } from "./checks.ts";
import { Client } from "./client.ts";

const usage = `Checks at an address what the documentation of the API promises.

node run.ts --url <address> --key <API key> --other-key <API key>

  --url            the address of the API, such as http://127.0.0.1:3000
  --key            an API key with full access
  --other-key      an API key with full access, of another account
  --read-only-key  an API key of the first account that may only read
  --limited-key    an API key of a third account, with a rate limit of some ten requests

The checks leave some hundred leads and conversations in the first two accounts. Nothing else should write there
meanwhile, because totals are compared. Exits with 1 if a promise is not kept, and with 2 if it cannot check.`;

/** The options, with none if they cannot be used. */
function readOptions() {
  const text = { type: "string" } as const;
  const keys = { key: text, "other-key": text, "read-only-key": text, "limited-key": text };
  try {
    return parseArgs({ options: { url: text, ...keys, help: { type: "boolean" } } }).values;
  } catch (error) {
    console.error((error as Error).message);
    return {};
  }
}

const options = readOptions();
const { url = "", key, "other-key": otherKey, "read-only-key": readOnly, "limited-key": limited } = options;
if (options.help || !URL.canParse(url) || !key || !otherKey) {
  console.error(usage);
  process.exit(options.help ? 0 : 2);
}
const context = {
  mine: new Account(url, key),
  other: new Account(url, otherKey),
  anonymous: new Client(url),
  key,
  readOnly: readOnly === undefined ? undefined : new Account(url, readOnly),
  limited: limited === undefined ? undefined : new Client(url, limited),
  shared: new Map(),
};
const start = performance.now();
const counts = { ok: 0, FAILED: 0, skipped: 0 };
for (const check of checks) {
  const { outcome, promise, page, reason } = await runCheck(check, context);
  counts[outcome]++;
  const why = reason === undefined ? "" : `\n${reason.replaceAll(/^/gm, "        ")}`;
  console.log(`${outcome.padEnd(7)} ${promise}  (${page})${why}`);
}
const seconds = ((performance.now() - start) / 1000).toFixed(1);
console.error(`${counts.ok} ok, ${counts.FAILED} failed, ${counts.skipped} skipped in ${seconds} s`);
process.exitCode = counts.FAILED === 0 ? 0 : 1;
