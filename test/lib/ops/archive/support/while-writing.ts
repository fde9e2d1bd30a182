import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";

/** Does something once, before the first call for which the condition holds, while a command runs. */
export async function interrupted<T>(
  condition: (command: { readonly input: object }) => boolean,
  before: () => Promise<unknown>,
  run: () => Promise<T>,
): Promise<T> {
  const { prototype } = DynamoDBDocumentClient;
  const send = prototype.send;
  let isDone = false;
  const spy = vi.spyOn(prototype, "send").mockImplementation(async function (
    this: unknown,
    ...args: unknown[]
  ) {
    if (!isDone && condition(args[0] as { readonly input: object })) {
      isDone = true;
      await before();
    }
    return Reflect.apply(send, this, args);
  } as never);
  try {
    return await run();
  } finally {
    spy.mockRestore();
  }
}
