import type { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { createTestApp, synthesizeApp } from "../support/stack/synthesize.ts";

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

async function synthesizeProd(context?: Readonly<Record<string, unknown>>) {
  const app = await createTestApp("prod", { deployment: "canary", eventArchiveDays: 7 }, false, context);
  const { artifact, template } = await synthesizeApp(app, "prod", false);
  const resources = Object.entries<Resource>((template as Template).toJSON().Resources);
  return { resources, isProtected: artifact.terminationProtection ?? false };
}

/**
 * Whether a resource blocks the next attempt, because it stays after the creation of another resource has failed.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
const isInTheWay = ({ DeletionPolicy = "Delete", Properties }: Resource) =>
  Properties?.DeletionProtectionEnabled === true ||
  !["Delete", "RetainExceptOnCreate"].includes(DeletionPolicy);

const first = await synthesizeProd({ protected: "false" });
const later = await synthesizeProd();

test("The first deployment of a stage that keeps its data can be repeated after any resource has failed", () => {
  expect(first.resources.length).toBeGreaterThan(100);
  // The CDK's command line deletes a failed stack first, unless it is protected.
  expect(first.isProtected).toBe(false);
  expect(first.resources.filter(([, resource]) => isInTheWay(resource))).toEqual([]);
});

test("The next deployment protects the stack and its table", () => {
  expect(later.isProtected).toBe(true);
  const changed = later.resources.filter(([id, resource], index) => {
    const before = first.resources[index];
    return before?.[0] !== id || JSON.stringify(before[1]) !== JSON.stringify(resource);
  });
  expect(changed.map(([, { Type }]) => Type)).toEqual(["AWS::DynamoDB::Table"]);
});
