import { parseArgs } from "node:util";
import { Account, leads } from "./account.ts";
import { type Context, runCheck } from "./check.ts";
import { checks } from "./checks.ts";
import { Client } from "./client.ts";

const usage = `Checks at an address what the documentation of the API promises.

node run.ts --url <address> --key <API key> --other-key <API key>

  --url            the address of the API, such as http://127.0.0.1:3000
  --key            an API key with full access
  --other-key      an API key with full access, of another account
  --read-only-key  an API key of the first account that may only read
  --create-key     an API key of the first account that may only create leads
  --limited-key    an API key of a third account, with a rate limit of some ten requests
  --json           print each result as a line of JSON

The checks leave some hundred leads and conversations in the first two accounts. Nothing else should write there
meanwhile, because totals are compared. Exits with 1 if a promise is not kept, and with 2 if it cannot check.`;

/** Thrown if the checks cannot be made. */
class UsageError extends Error {}

function readOptions() {
  const [text, flag] = [{ type: "string" }, { type: "boolean" }] as const;
  const keys = { key: text, "other-key": text, "read-only-key": text, "create-key": text };
  try {
    const options = { url: text, ...keys, "limited-key": text, json: flag, help: flag };
    return parseArgs({ options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

type Options = ReturnType<typeof readOptions>;

/** A client whose key is accepted. */
async function connect(url: string, name: keyof Options, options: Options): Promise<Account> {
  const client = new Account(url, String(options[name]));
  const { status } = await client.sendOnce({ path: leads }).catch((error: unknown) => {
    throw new UsageError(`${url} does not respond: ${error}.`);
  });
  if (status === 401 || status === 403) throw new UsageError(`${url} refuses --${name} with ${status}.`);
  return client;
}

async function prepare(options: Options): Promise<Context> {
  const { url } = options;
  for (const name of ["url", "key", "other-key"] as const)
    if (options[name] === undefined) throw new UsageError(`--${name} is missing.`);
  if (!url || !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new UsageError(`--url must be an address such as http://127.0.0.1:3000, not ${url}.`);
  const ifGiven = async (name: keyof Options) =>
    options[name] === undefined ? undefined : connect(url, name, options);
  return {
    mine: await connect(url, "key", options),
    other: await connect(url, "other-key", options),
    anonymous: new Client(url),
    key: String(options.key),
    readOnly: await ifGiven("read-only-key"),
    // This key may not make the request that shows whether a key is accepted.
    creating: options["create-key"] === undefined ? undefined : new Account(url, options["create-key"]),
    limited: await ifGiven("limited-key"),
    shared: new Map(),
  };
}

async function run(): Promise<number> {
  const options = readOptions();
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const context = await prepare(options);
  const start = performance.now();
  const counts = { ok: 0, FAILED: 0, skipped: 0 };
  for (const check of checks) {
    const result = await runCheck(check, context);
    const { outcome, promise, page, reason } = result;
    counts[outcome]++;
    const why = reason === undefined ? "" : `\n${reason.replaceAll(/^/gm, "        ")}`;
    console.log(options.json ? JSON.stringify(result) : `${outcome.padEnd(7)} ${promise}  (${page})${why}`);
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.error(`${counts.ok} ok, ${counts.FAILED} failed, ${counts.skipped} skipped in ${seconds} s`);
  return counts.FAILED === 0 ? 0 : 1;
}

process.exitCode = await run().catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message} See --help.`);
  return 2;
});
