import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { rebuild } from "../../../../lib/ops/counts/rebuild.ts";
import { LeadHistory } from "../../../support/lead-history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("more changes than a maintainer counts at once reach the tree of a rebuild, too", async () => {
  const history = new LeadHistory();
  history.addMany(1500, { age: 60_000 });
  await history.deliver(smallLimits);
  let replacements = 0;
  history.table.before = async (command) => {
    if (!(command instanceof TransactWriteCommand)) return;
    const replaces = command.input.TransactItems?.some((item) => item.Delete);
    if (!replaces || replacements++ > 0) return;
    // The rebuild has counted everything when these change.
    for (const id of history.leads.keys()) history.setStatus(id, "booked");
    await history.deliver(smallLimits);
  };
  const wait = async (milliseconds: number) => history.advance(milliseconds);
  await rebuild(history.owner, { limits: smallLimits, wait });
  expect(replacements).toBeGreaterThan(1);
  const booked = { status: "booked" } as const;
  expect(await history.list(booked)).toEqual(history.expected(booked));
});
