import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { keyedItems } from "./keyed-items.ts";
import { throttled } from "./watched-table.ts";

/** A command of the document client. */
// biome-ignore lint/suspicious/noExplicitAny: each command has its own input and output.
export type TableCommand = { readonly input: any };
// biome-ignore lint/suspicious/noExplicitAny: as above
type Send = (command: TableCommand) => Promise<any>;

/** Runs `around` instead of each call of the table by any client of this process, until the result is disposed of. */
export function aroundCalls(around: (command: TableCommand, send: Send) => Promise<unknown>): Disposable {
  const prototype = DynamoDBDocumentClient.prototype as unknown as { send: Send };
  const { send } = prototype;
  prototype.send = function (this: unknown, command) {
    return around(command, (it) => send.call(this, it));
  };
  return {
    [Symbol.dispose]() {
      prototype.send = send;
    },
  };
}

/** Runs something once, before the first call for which the condition holds. */
export function beforeCall(
  condition: (command: TableCommand) => boolean,
  run: () => Promise<unknown>,
): Disposable {
  let isDone = false;
  return aroundCalls(async (command, send) => {
    if (!isDone && condition(command)) {
      isDone = true;
      await run();
    }
    return send(command);
  });
}

/** Whether a call puts or updates such an item, alone or in a transaction. */
export const stores =
  (isMeant: (item: Key) => boolean) =>
  ({ input }: TableCommand): boolean => {
    const { TransactItems = [{ Put: input, Update: input.UpdateExpression && input }] } = input;
    return TransactItems.some(({ Put, Update }: TableCommand["input"]) => {
      const item = Put?.Item ?? Update?.Key;
      return item && isMeant(item);
    });
  };

/** Ends pages and batches after a few items, so that every loop over the remaining items runs. */
export const smallPages = (): Disposable =>
  aroundCalls(async (command, send) => {
    const { input } = command;
    const size = 2;
    const Limit = Math.min(size, input.Limit ?? size);
    if (command instanceof QueryCommand) return send(new QueryCommand({ ...input, Limit }));
    if (command instanceof ScanCommand) return send(new ScanCommand({ ...input, Limit }));
    if (!(command instanceof BatchGetCommand)) return send(command);
    const [[name = "", requests] = []] = Object.entries(input.RequestItems);
    const { Keys, ...others } = requests as { Keys: object[] };
    const output = await send(
      new BatchGetCommand({ ...input, RequestItems: { [name]: { ...others, Keys: Keys.slice(0, size) } } }),
    );
    return Keys.length > size
      ? { ...output, UnprocessedKeys: { [name]: { ...others, Keys: Keys.slice(size) } } }
      : output;
  });

/** The table throttles the first call of each command on the same partition keys. */
export function throttles(): Disposable {
  const had = new Set<string>();
  return aroundCalls(async (command, send) => {
    const name = `${command.constructor.name} ${JSON.stringify(command.input).match(/pk":"[^"]*/g)}`;
    if (had.has(name)) return send(command);
    had.add(name);
    throw throttled();
  });
}

const writes = [PutCommand, UpdateCommand, DeleteCommand, TransactWriteCommand];

const isWrite = (command: TableCommand) => writes.some((write) => command instanceof write);

/** Hides the items of all writes from now on from reads that are not consistent: reads of indexes, and careless reads. */
export function lateReads(): Disposable {
  const written = new Set<string>();
  return aroundCalls(async (command, send) => {
    const output = await send(command);
    if (isWrite(command)) for (const each of keyedItems(command)) written.add(each);
    if (isWrite(command) || command.input.ConsistentRead) return output;
    const isShown = (item: Item) => !written.has(`${item.pk} ${item.sk}`);
    return {
      ...output,
      ...(output.Items && { Items: output.Items.filter(isShown) }),
      ...(output.Item && { Item: isShown(output.Item) ? output.Item : undefined }),
    };
  });
}

/**
 * Runs trials until a command is not killed. In each trial, the command that is passed to `run` is killed one write later:
 * this write and all later calls fail. `run` returns whether the command was killed.
 *
 * @returns the number of writes at which the command was killed
 */
export async function killAtEachWrite(
  trial: (run: (command: () => Promise<unknown>) => Promise<boolean>) => Promise<unknown>,
): Promise<number> {
  for (let nth = 1; ; nth++) {
    let count = 0;
    await trial(async (command) => {
      using _ = aroundCalls(async (it, send) => {
        if (count < nth && isWrite(it)) count += 1;
        if (count >= nth) throw new Error("killed");
        return send(it);
      });
      await command().catch(() => {});
      return count >= nth;
    });
    if (count < nth) return nth - 1;
  }
}
