import type { Command } from "commander";
import { conversationKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace, Wait } from "../../../shared/dynamodb/pace.ts";
import { queryAll } from "../../../shared/dynamodb/read-pages.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import { createdAt, isId } from "../../../shared/ids.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import { UserError } from "../../errors.ts";
import { confirm, yesOption } from "../common/confirm.ts";
import { forEachAtRate } from "../common/for-each-at-rate.ts";
import { selectPacedTable } from "../common/options.ts";
import type { OnRows } from "../common/progress.ts";
import { asChange, buildUpdate, updateItem } from "../common/write-items.ts";
import { messagesOf } from "../erasure/lead-items.ts";
import type { ArchiveLine } from "./archive-lines.ts";
import {
  type ImportOptions as CommonOptions,
  importingCommand,
  importRows,
  type Outcomes,
} from "./import-rows.ts";
import type { Archive } from "./open-archive.ts";

interface ImportOptions extends CommonOptions {
  readonly rename?: boolean;
  readonly yes?: boolean;
}

/** How many conversations' messages are counted at the same time. */
const parallel = 32;

/** `accounts import`: stores what an archive has and the account does not, no matter how often it runs. */
export const importAccountCommand = (wait?: Wait): Command =>
  importingCommand(
    "store what an exported account has and this one does not; after a failure, run it again to continue",
  )
    .argument("<file>", "the .jsonl file of `accounts export`; its manifest is beside it")
    .option("--rename", "the account had another name where it was exported")
    .option(
      "--replace",
      "also give leads, conversations and messages that exist the fields that they have in the file",
    )
    .addOption(yesOption())
    .action((path: string, options: ImportOptions) => importAccount(path, options, wait));

async function importAccount(path: string, options: ImportOptions, wait?: Wait): Promise<void> {
  // The schemas take a quarter of the start of every command.
  const { openArchive } = await import("./open-archive.ts");
  const { account, rename, replace, dryRun, yes, json } = options;
  const archive = await openArchive(path);
  const { manifest, count } = archive;
  if (manifest.account !== account && !rename)
    throw new UserError(
      `${path} has the account ${manifest.account}: add --rename to import it as ${account}.`,
    );
  const pace = await selectPacedTable(options, wait);
  const run = (dryRun: boolean, report: (outcomes: Outcomes, sentence: string) => void) =>
    importRows({ ...options, dryRun }, toSource(archive, account, pace), pace, (outcomes) => {
      const { imported, present, replaced, erased, orphaned } = outcomes;
      const verb = dryRun ? "would be " : "";
      const others = orphaned > 0 ? `, ${orphaned} of leads that do not exist` : "";
      const sentence = `${count} lines: ${imported} ${verb}imported, ${replaced} ${verb}replaced, ${present} already there, ${erased} of erased leads${others}.`;
      report(outcomes, sentence);
    });
  if (replace && !dryRun && !yes) {
    let replaced = 0;
    await run(true, (outcomes, sentence) => {
      replaced = outcomes.replaced;
      console.error(sentence);
    });
    if (replaced > 0) await confirm(account, { kind: "account", action: "replace them" });
  }
  await run(dryRun ?? false, (outcomes, sentence) =>
    console.log(json ? JSON.stringify({ account, lines: count, ...outcomes }) : sentence),
  );
}

function toSource(archive: Archive, account: string, pace: Pace) {
  const linesWhere = (condition: (line: ArchiveLine) => boolean) =>
    async function* (onRows: OnRows) {
      for await (const line of archive.lines()) {
        if (!condition(line)) continue;
        yield line;
        onRows(1);
      }
    };
  const conversations = async function* () {
    for await (const line of archive.lines()) if (line.type === "conversation") yield line;
  };
  return {
    count: archive.count,
    // What is erased comes before leads, leads before their conversations, and conversations before their messages. A
    // conversation that ends makes room for another active one of its lead on its channel.
    phases: [
      linesWhere(({ type }) => type !== "lead" && type !== "conversation" && type !== "message"),
      linesWhere(({ type }) => type === "lead"),
      linesWhere((line) => line.type === "conversation" && line.status !== active),
      linesWhere((line) => line.type === "conversation" && line.status === active),
      linesWhere(({ type }) => type === "message"),
    ],
    conversations,
    whenStored: (erased: ReadonlySet<string>) =>
      forEachAtRate(conversations(), { parallel }, async ({ id, leadId }) => {
        if (!erased.has(leadId)) await countMessages(account, id, pace);
      }),
  };
}

/**
 * Counts the messages of a conversation, and corrects their number and the time of the last one where the conversation has
 * others. A message that is sent meanwhile changes both, so they are counted again.
 */
const countMessages = (account: string, conversationId: string, pace: Pace): Promise<void> =>
  pace.retry(async () => {
    const key = conversationKey(account, conversationId);
    const conversation = await readItem(key);
    if (!conversation) return;
    const selection = { ...messagesOf(account, conversationId), ProjectionExpression: "sk" };
    const messages = await queryAll(selection, pace);
    const ids = messages.map(({ sk }) => sk).filter((id) => isId("msg", id));
    const lastId = ids.at(-1);
    if (lastId === undefined) return;
    const counted = { messageCount: ids.length, lastMessageAt: createdAt(lastId) };
    const { messageCount: count, lastMessageAt } = conversation;
    if (count === ids.length && lastMessageAt === counted.lastMessageAt) return;
    await updateItem(
      buildUpdate(key, asChange(conversation, counted), { messageCount: count, lastMessageAt }),
    );
  });
