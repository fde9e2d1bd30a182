import { cut } from "../../../shared/cut.ts";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { onAccount, type Tools } from "../command/action.ts";
import { command, type OutputOptions, outputOption } from "../command/command.ts";
import { writeOutput } from "../output/output-file.ts";
import type { InvalidItems } from "../table/invalid-items.ts";
import { readMessageItems } from "../table/read-items.ts";
import { type RecordType, readStored, readWhole } from "../table/valid-records.ts";

/** A record with its type. */
type Line = { readonly type: RecordType };

/** `accounts export`: writes everything of an account to a file, which nothing reads back. */
export const exportAccountCommand = () =>
  command(
    "export",
    "write everything of an account, except its API keys and channels, to a file of JSON lines",
    { paced: true },
  )
    .requiredOption(...outputOption)
    .action(onAccount(exportAccount));

async function exportAccount({ account, output }: OutputOptions, { pace, invalid }: Tools) {
  const counts = { account: 0, erasedLead: 0, leadImport: 0, lead: 0, conversation: 0, message: 0 };
  const lines = async function* () {
    for await (const some of readAccount(account, pace, invalid)) {
      for (const { type } of some) counts[type] += 1;
      yield some.map((line) => `${JSON.stringify(line)}\n`).join("");
    }
  };
  await writeOutput(lines(), output);
  const { lead, conversation, message } = counts;
  const text = `Exported ${lead} leads, ${conversation} conversations and ${message} messages.`;
  return { json: { account, output, lines: counts, invalid: invalid.size }, text };
}

/** How many conversations are read at the same time, with all of their messages in memory. */
const conversationsAtOnce = 8;

/** Reads everything of an account, in the order of the keys: conversations last, each with its messages. */
async function* readAccount(account: string, pace: Pace, invalid: InvalidItems): AsyncGenerator<Line[]> {
  const read = (type: RecordType) => queryItems(inPartition(accountPartition(type, account)), pace);
  for (const type of ["account", "erasedLead", "leadImport", "lead"] as const)
    for await (const items of read(type))
      yield items.flatMap((item) => {
        const record = readStored(type, item, invalid);
        return record ? [{ type, ...record }] : [];
      });
  const readConversation = async (item: Item): Promise<Line[]> => {
    const whole = readWhole(item, await readMessageItems(account, item.sk, pace), invalid);
    if (!whole) return [];
    const messages = whole.messages.map((message): Line => ({ type: "message", ...message }));
    return [{ type: "conversation", ...whole.conversation }, ...messages];
  };
  for await (const items of read("conversation"))
    for (const part of cut(items, conversationsAtOnce)) yield* await Promise.all(part.map(readConversation));
}
