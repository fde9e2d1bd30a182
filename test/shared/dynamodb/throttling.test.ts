import { expect, test, vi } from "vitest";
import { withBackoff } from "../../../shared/dynamodb/throttling.ts";
import { canceled } from "../../support/tables/cancellation.ts";

const conflict = canceled("TransactionConflict");
const work = (id: string, error?: Error) =>
  withBackoff(id, "Too much.", async () => {
    if (error) throw error;
    return "done";
  });

test("an environment remembers a thousand backoffs, and forgets them all when there are more", async () => {
  const now = Date.UTC(2026, 0, 1);
  vi.useFakeTimers({ toFake: ["Date"], now });
  vi.spyOn(Math, "random").mockReturnValue(1);
  const refused = { name: "TooManyAtOnceError", message: "Too much.", until: now + 100 };
  for (let i = 0; i < 1000; i++) await expect(work(`range ${i}`, conflict)).rejects.toMatchObject(refused);
  await expect(work("range 0")).rejects.toMatchObject(refused);
  await expect(work("another", conflict)).rejects.toMatchObject(refused);
  expect(await work("range 0")).toBe("done");
  await expect(work("another")).rejects.toMatchObject(refused);
});
