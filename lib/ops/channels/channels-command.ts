import { text } from "node:stream/consumers";
import { Command, Option } from "commander";
import {
  connect,
  disconnect,
  readConnection,
  readSenderAccount,
} from "../../../shared/channels/connections.ts";
import { tokenOf } from "../../../shared/channels/secrets.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { type MetaChannel, metaChannels } from "../../../shared/meta-channels.ts";
import { UserError } from "../../user-error.ts";
import { inColumns, onAccount, onTable, type Printed } from "../command/action.ts";
import { type AccountOptions, command, parseText } from "../command/command.ts";
import { deleteSecret, putSecret } from "./secret-store.ts";

type ChannelOptions = AccountOptions & { readonly channel: MetaChannel };

const channelOption = () =>
  new Option("--channel <channel>", "the channel").choices(metaChannels).makeOptionMandatory();

export const channelsCommand = () =>
  new Command("channels")
    .description("connect, list and disconnect the channels of an account")
    .addCommand(
      command(
        "connect",
        "connect a WhatsApp number or an Instagram account; its token is read from standard input",
        { writes: true },
      )
        .addOption(channelOption())
        .requiredOption(
          "--sender <id>",
          "Meta's id of the phone number or the Instagram account",
          parseSender,
        )
        .option(
          "--replace",
          "replace the sender that the account has; messages that wait are sent by the new one",
        )
        .action(onAccount(connectChannel)),
    )
    .addCommand(command("list", "list the connected channels").action(onAccount(listChannels)))
    .addCommand(
      command(
        "disconnect",
        "disconnect the sender of a channel; messages that still wait are never sent, and new ones go only to the event bus",
        { writes: true },
      )
        .addOption(channelOption())
        .action(onTable(disconnectChannel)),
    );

export const isSender = (id: unknown): id is string => typeof id === "string" && /^\d{5,32}$/.test(id);

const parseSender = parseText(
  isSender,
  "A sender is an id from Meta of 5 to 32 digits, not the telephone number itself.",
);

type ConnectOptions = ChannelOptions & { readonly sender: string; readonly replace?: boolean };

async function connectChannel(options: ConnectOptions): Promise<Printed> {
  const { account, channel, sender } = options;
  const owner = await readSenderAccount(channel, sender);
  if (owner !== undefined && owner !== account)
    throw new UserError(`The account ${owner} has the sender ${sender}: disconnect it there first.`);
  const before = await readConnection(account, channel);
  const isOther = before !== undefined && before.sender !== sender;
  if (isOther && !options.replace)
    throw new UserError(
      `The account ${account} has the sender ${before.sender}: pass --replace to replace it.`,
    );
  const token = (await text(process.stdin)).trim();
  if (!/^[\x21-\x7e]{20,2000}$/.test(token))
    throw new UserError(
      "Pass only the token of the sender on standard input: 20 to 2,000 letters, digits and punctuation marks.",
    );
  // A sender without a token would fail its messages; a token without a sender does nothing.
  await putSecret(options, tokenOf(channel, sender), token);
  const former = isOther
    ? { sender: before.sender, isOwner: await deleteToken(options, channel, before.sender) }
    : undefined;
  await connect({ account, channel, sender }, former);
  const sentence = `The account ${account} sends and receives on ${channel} through the sender ${sender}.`;
  return { json: { channel, sender }, text: sentence };
}

async function listChannels({ account }: AccountOptions): Promise<Printed> {
  const senders = await Promise.all(
    metaChannels.map(async (channel) => ({ channel, ...(await readConnection(account, channel)) })),
  );
  const connected = senders.filter(({ sender }) => sender !== undefined);
  const none = `The account ${account} has connected no channel.`;
  return inColumns(connected, none, ["channel", "sender", "connectedAt"]);
}

async function disconnectChannel(options: ChannelOptions): Promise<Printed> {
  const { account, channel } = options;
  const sender = await disconnectSender(options, channel);
  if (sender === undefined) throw new UserError(`The account ${account} has not connected ${channel}.`);
  const sentence = `Messages of ${account} on ${channel} now go only to the event bus of ${tableName}.`;
  return { json: { channel, sender }, text: sentence };
}

/**
 * Deletes the connection of an account and its token, unless another account has the sender and so the token.
 *
 * @returns the sender, if the account has connected the channel
 */
export async function disconnectSender(options: AccountOptions, channel: MetaChannel) {
  const { account } = options;
  const { sender } = (await readConnection(account, channel)) ?? {};
  if (sender === undefined) return undefined;
  const isOwner = await deleteToken(options, channel, sender);
  await disconnect({ account, channel, sender }, isOwner);
  return sender;
}

/** Deletes the token of a sender, unless another account has the sender. Returns whether the account has it. */
async function deleteToken(options: AccountOptions, channel: MetaChannel, sender: string): Promise<boolean> {
  const owner = await readSenderAccount(channel, sender);
  if (owner === undefined || owner === options.account) await deleteSecret(options, tokenOf(channel, sender));
  return owner === options.account;
}
