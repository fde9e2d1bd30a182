import { beforeEach, expect, test, vi } from "vitest";
import { canceled } from "../../support/tables/cancellation.ts";

const start = Date.UTC(2026, 0, 1);
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  vi.spyOn(Math, "random").mockReturnValue(1);
  vi.resetModules();
});

/** `withBackoff` of an environment that has just started. */
async function coldStart() {
  const { withBackoff } = await import("../../../shared/dynamodb/throttling.ts");
  return (id: string, error?: Error) =>
    withBackoff(id, "Too much.", async () => {
      if (error) throw error;
      return "done";
    });
}

const conflict = canceled("TransactionConflict");
const refused = (after: number) => ({
  name: "TooManyAtOnceError",
  message: "Too much.",
  until: start + after,
});

test("a refusal keeps its own reason, and attempts within its backoff get the general reason", async () => {
  const work = await coldStart();
  const { TooManyAtOnceError } = await import("../../../shared/dynamodb/dynamodb-errors.ts");
  const error = new TooManyAtOnceError("Too many rows.");
  await expect(work("long", error)).rejects.toMatchObject({ ...refused(100), message: "Too many rows." });
  await expect(work("long")).rejects.toMatchObject(refused(100));
});

test("an environment remembers a thousand backoffs, and forgets them all when there are more", async () => {
  const work = await coldStart();
  for (let i = 0; i < 1000; i++)
    await expect(work(`range ${i}`, conflict)).rejects.toMatchObject(refused(100));
  await expect(work("range 0")).rejects.toMatchObject(refused(100));
  await expect(work("another", conflict)).rejects.toMatchObject(refused(100));
  expect(await work("range 0")).toBe("done");
  await expect(work("another")).rejects.toMatchObject(refused(100));
});
