import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { beforeEach, expect, test, vi } from "vitest";
import type { Settings } from "../../../../lib/config/settings.ts";
import { findCacheSeconds } from "../../../../lib/ops/accounts/accounts-erase.ts";
import { ShownPace, selectTableByOptions } from "../../../../lib/ops/command/select-table.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { mockClient } from "../../../support/tables/mocked-client.ts";

const account = "111111111111";

const stages: Readonly<Record<string, Partial<Settings>>> = {
  pinned: { account, region: "eu-west-1" },
  regional: { region: "eu-west-1" },
  open: {},
  staging: { authorizerCacheSeconds: 300 },
  dev: { authorizerCacheSeconds: 30 },
};

vi.mock(import("../../../../lib/config/read-stage-file.ts"), () => ({
  readProjectStage: (stage) => stages[stage] as Settings | undefined,
}));

const sts = mockClient(STSClient);
beforeEach(() => void sts.reset());

/** The regions in which the AWS account of the credentials was asked for. */
const asked = () =>
  Promise.all(sts.commandCalls(GetCallerIdentityCommand).map(({ thisValue }) => thisValue.config.region()));

test("no table is used with credentials that do not belong to the AWS account of the stage", async () => {
  sts.on(GetCallerIdentityCommand).resolves({ Account: "222222222222" });
  const before = tableName;
  await expect(selectTableByOptions({ stage: "pinned" })).rejects.toThrow(
    `The stage pinned belongs to the AWS account ${account}, but the credentials are of 222222222222: use those of ${account}.`,
  );
  expect(tableName).toBe(before);
  expect(await asked()).toEqual(["eu-west-1"]);
});

test.each([
  ["pinned", "eu-west-1", 1],
  ["regional", "eu-west-1", 0],
  ["open", "local", 0],
  ["no-file", "local", 0],
])("a command on the stage %s uses its table in %s, and checks only the credentials of a pinned stage", async (stage, region, checks) => {
  sts.on(GetCallerIdentityCommand).resolves({ Account: account });
  await selectTableByOptions({ stage });
  expect([tableName, await table.config.region()]).toEqual([`leads-and-conversations-${stage}`, region]);
  expect(await asked()).toHaveLength(checks);
});

test("a command attempts each call up to ten times, and waits ten seconds for each response", async () => {
  await selectTableByOptions({ table: "named" });
  expect([tableName, await table.config.maxAttempts()]).toEqual(["named", 10]);
  const { requestHandler } = table.config as unknown as {
    requestHandler: { configProvider: Promise<object> };
  };
  expect(await requestHandler.configProvider).toMatchObject({
    ...{ connectionTimeout: 5000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
});

test.each([
  [{ stage: "staging" }, 300, ""],
  [{ stage: "staging", cacheSeconds: 0 }, 0, ""],
  [{ local: true }, 30, ""],
  [{ stage: "pr-42" }, 3600, "assuming 3600 seconds"],
  [{}, 3600, "--cache-seconds"],
])("with %j, a revoked key is expected to work for %i seconds", async (options, seconds, note) => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  expect(await findCacheSeconds(options)).toBe(seconds);
  expect(errors).toHaveBeenCalledTimes(note ? 1 : 0);
  expect(String(errors.mock.calls)).toContain(note);
});

test.each([
  [true, ["1,025 read units used so far.", "1,045 read units used so far."]],
  [false, []],
])("the number of used units is printed every ten seconds, only if stderr is a terminal (%s)", async (isTTY, lines) => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(process, "stderr", "get").mockReturnValue({ isTTY } as never);
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const pace = new ShownPace(1_000_000);
  for (const units of [1000, 5, 20, 10, 10]) {
    await pace.spend(units);
    vi.setSystemTime(Date.now() + 5000);
  }
  expect(error.mock.calls.flat()).toEqual(lines);
});
