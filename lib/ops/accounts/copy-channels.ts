import { readSenderAccount, setOwn } from "../../../shared/channels/connections.ts";
import { tokenOf } from "../../../shared/channels/secrets.ts";
import { ifValid, isText, readFields } from "../../../shared/dynamodb/invalid-items.ts";
import { channelKey, senderKey } from "../../../shared/dynamodb/keys.ts";
import { isMetaChannel } from "../../../shared/meta-channels.ts";
import { isSender } from "../channels/channels-command.ts";
import { getSecret, putSecret } from "../channels/secret-store.ts";
import { opsCommand, type TableOptions } from "../command/command.ts";
import { checkWritable } from "../table/store-rows.ts";
import { type Copying, copyItem } from "./copy-item.ts";

/** Connects the account's channels of the source, each with its token. Channels that are connected here stay as they are. */
export async function copyChannels(copying: Copying, options: TableOptions): Promise<void> {
  const { account, source, invalid, counts, dryRun } = copying;
  const checks = { sk: isMetaChannel, sender: isSender, connectedAt: isText };
  for await (const item of source.items("channel")) {
    const connection = ifValid(() => readFields(item, checks), invalid.noteInvalid);
    if (!connection) continue;
    const { sk: channel, ...fields } = connection;
    const { sender, connectedAt } = fields;
    const wanted = { ...channelKey(account, channel), ...fields };
    const outcome = await copyItem({ ...copying, replace: false }, wanted, async (stored) => {
      const owner = await readSenderAccount(channel, sender);
      if (owner !== undefined && owner !== account) return { left: `the account ${owner} has its sender` };
      if (stored) return {};
      const { value: token, reason } = await getSecret(options, source, tokenOf(channel, sender));
      if (token === undefined) {
        const line = `channels connect --account ${account} --channel ${channel} --sender ${sender}`;
        return { left: `its token cannot be read (${reason}): pass it to ${opsCommand(options, line)}` };
      }
      // A sender without a token would fail its messages.
      if (!dryRun) {
        await checkWritable(copying);
        await putSecret(options, tokenOf(channel, sender), token);
      }
      return { others: [setOwn(senderKey(channel, sender), "accountId", account, { at: connectedAt })] };
    });
    counts[outcome] += 1;
  }
}
