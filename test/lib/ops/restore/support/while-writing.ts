import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";

/** Does something once, before the first call for which the condition holds, while a command runs. */
export async function whileWriting<T>(
  condition: (command: unknown) => boolean,
  before: () => Promise<unknown>,
  run: () => Promise<T>,
): Promise<T> {
  const { prototype } = DynamoDBDocumentClient;
  const send = prototype.send;
  const spy = vi.spyOn(prototype, "send").mockImplementation(async function (
    this: unknown,
    ...args: unknown[]
  ) {
    if (condition(args[0])) await before();
    return Reflect.apply(send, this, args);
  } as never);
  try {
    return await run();
  } finally {
    spy.mockRestore();
  }
}

/** Does something at the first call only. */
export function once<T>(work: () => Promise<T>): () => Promise<T | undefined> {
  let done = false;
  return async () => {
    if (done) return undefined;
    done = true;
    return work();
  };
}
