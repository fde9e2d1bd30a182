import { largestLimit } from "../../../shared/domain/accounts.ts";
import { accountKey } from "../../../shared/dynamodb/keys.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { onAccount } from "../command/action.ts";
import { type AccountOptions, command, parseNumber } from "../command/command.ts";
import { freezeAccount } from "../erasure/erase.ts";
import { waitForWriters } from "../erasure/wait-for-writers.ts";
import { type CacheOptions, cacheSecondsOption, findCacheSeconds } from "./accounts-erase.ts";

/** Gives an account its own rate limit, or that of its stage again. A key gets the limit when it is next authorized. */
export async function writeLimit(account: string, requests: number | undefined): Promise<void> {
  await updateItem(buildUpdate(accountKey(account), { requests }));
}

const parseLimit = parseNumber(
  1,
  largestLimit,
  `A limit is a whole number from 1 to ${largestLimit}, or \`stage\`.`,
);

export const setLimitCommand = () =>
  command(
    "set-limit",
    "give an account a rate limit of its own; it applies to each key once it is authorized again",
    { writes: true },
  )
    .requiredOption(
      "--requests <number>",
      "how many requests it may make in a minute; `stage` for the limit of the stage",
      // Commander would turn null into an empty text.
      (text) => (text === "stage" ? text : parseLimit(text)),
    )
    .action(
      onAccount(async ({ account, ...options }: AccountOptions & { requests: number | "stage" }) => {
        const requests = options.requests === "stage" ? undefined : options.requests;
        await writeLimit(account, requests);
        const limit =
          requests === undefined ? "the rate limit of its stage" : `a limit of ${requests} requests a minute`;
        return { json: { account, requests }, text: `The account ${account} has ${limit}.` };
      }),
    );

/** `accounts freeze`: stops all writes for an account, so that a copy has everything. */
export const freezeCommand = () =>
  command("freeze", "stop all writes for an account, and wait until the last one has ended", {
    writes: "always",
  })
    .option(...cacheSecondsOption)
    .action(
      onAccount(async (options: AccountOptions & CacheOptions, { pace }) => {
        const { account } = options;
        const cacheSeconds = await findCacheSeconds(options);
        const frozenAt = await freezeAccount(account, pace);
        await waitForWriters(`The account ${account} is frozen`, pace, 1000 * cacheSeconds);
        const text = `The account ${account} is frozen: nothing writes for it any more.`;
        return { json: { account, frozenAt }, text };
      }),
    );

export const unfreezeCommand = () =>
  command("unfreeze", "let an account write again; each key can write once it is authorized again", {
    writes: "always",
  }).action(
    onAccount(async ({ account }) => {
      await updateItem(buildUpdate(accountKey(account), { frozenAt: undefined }));
      const text = `The account ${account} can write again, with each key once it is authorized again.`;
      return { json: { account, frozenAt: null }, text };
    }),
  );
