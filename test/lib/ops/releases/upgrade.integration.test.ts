import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, expect, test } from "vitest";
import { upgradeCommand } from "../../../../lib/ops/releases/upgrade-command.ts";
import { releaseKey } from "../../../../shared/dynamodb/keys.ts";
import { dataFormat, recordRelease } from "../../../../shared/dynamodb/stored-release.ts";
import { readItem, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { runCommand } from "../../../support/command.ts";
import { put } from "../../../support/table-items.ts";

beforeEach(() => put({ ...releaseKey, releaseName: "1.0.0+ab12cd3", dataFormat }));

test("this release needs no steps", async () => {
  expect(await runCommand(upgradeCommand())).toEqual({ printed: ["0 steps are done."], failure: undefined });
});

test("steps are listed, done once and in order, and stay recorded over a deployment", async () => {
  const done: string[] = [];
  let fails = true;
  const step = (name: string) => ({
    name,
    description: `What ${name} does.`,
    run: async () => {
      if (name === "second" && fails) throw new Error("Not now.");
      done.push(name);
    },
  });
  const steps = ["first", "second"].map(step);
  const run = (...args: string[]) => runCommand(upgradeCommand(steps), ...args);
  expect(await run("--dry-run")).toEqual({
    printed: ["first: What first does.", "second: What second does.", "2 steps would be done."],
    failure: undefined,
  });
  expect(done).toEqual([]);
  expect((await run()).failure).toBe("Not now.");
  fails = false;
  await table.send(new UpdateItemCommand(recordRelease(tableName, "1.1.0+0000000")));
  expect((await run()).printed).toEqual(["second: What second does.", "1 steps are done."]);
  expect(done).toEqual(["first", "second"]);
  expect((await run("--json")).printed).toEqual(["[]"]);
  expect(await readItem(releaseKey)).toMatchObject({ releaseName: "1.1.0+0000000" });
});
