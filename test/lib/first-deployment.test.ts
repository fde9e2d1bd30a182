import type { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { createTestApp, synthesizeApp } from "../support/synthesize.ts";

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** What identifies a resource in an AWS account and region: the name that the stack gives it, or one that is always new. */
function physicalName(id: string, { Type, Properties = {} }: Resource): string {
  const isName = (value: unknown) => typeof value === "string" && value.includes("leads-and-conversations");
  const name = Object.entries(Properties).find(([key, value]) => key.endsWith("Name") && isName(value));
  return `${Type} ${name?.[1] ?? id}`;
}

interface Deployable {
  readonly resources: readonly (readonly [id: string, Resource])[];
  readonly isProtected: boolean;
}

/**
 * What CloudFormation and the CDK's command line do with a stack that is not there yet, or whose creation failed. The
 * command line deletes a failed stack first, and protects a new one before it creates its resources.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
class Region {
  readonly #existing = new Map<string, Resource>();
  #failed: Deployable | undefined;

  /** @param failing the index of the resource that cannot be created. @returns why the deployment failed */
  deploy(stack: Deployable, failing?: number): string | undefined {
    if (this.#failed?.isProtected) return "The stack cannot be deleted: it is protected.";
    if (this.#failed && !this.#delete(this.#failed, ["Delete"])) return "The failed stack cannot be deleted.";
    this.#failed = stack;
    for (const [index, [id, resource]] of stack.resources.entries()) {
      const name = physicalName(id, resource);
      const reason = index === failing ? "It cannot be created." : `${name} exists already.`;
      if (index === failing || this.#existing.has(name)) {
        this.#delete({ ...stack, resources: stack.resources.slice(0, index) }, [
          "Delete",
          "RetainExceptOnCreate",
        ]);
        return reason;
      }
      this.#existing.set(name, resource);
    }
    this.#failed = undefined;
    return undefined;
  }

  /** Deletes the resources with one of these policies. @returns whether none refused */
  #delete({ resources }: Deployable, policies: readonly string[]): boolean {
    let isDone = true;
    for (const [id, resource] of resources) {
      if (!policies.includes(resource.DeletionPolicy ?? "Delete")) continue;
      if (resource.Properties?.DeletionProtectionEnabled === true) isDone = false;
      else this.#existing.delete(physicalName(id, resource));
    }
    return isDone;
  }
}

async function synthesizeProd(context?: Readonly<Record<string, unknown>>): Promise<Deployable> {
  const app = await createTestApp("prod", { deployment: "canary", eventArchiveDays: 7 }, false, context);
  const { artifact, template } = await synthesizeApp(app, "prod", false);
  const resources = Object.entries<Resource>((template as Template).toJSON().Resources);
  return { resources, isProtected: artifact.terminationProtection ?? false };
}

const first = await synthesizeProd({ protected: "false" });
const later = await synthesizeProd();

/** Deploys the stack twice, the first time with a fault in a resource. @returns the reasons why the second one failed */
const repeatAfterEachFault = (stack: Deployable) =>
  stack.resources.map((_, failing) => {
    const region = new Region();
    expect(region.deploy(stack, failing)).toBe("It cannot be created.");
    return region.deploy(stack);
  });

test("A first deployment of a stage that keeps its data can fail at any resource, and be repeated", () => {
  expect(first.resources.length).toBeGreaterThan(100);
  expect(repeatAfterEachFault(first)).toEqual(first.resources.map(() => undefined));
});

test("The next deployment protects the stack and its table; a first one so protected cannot be repeated", () => {
  expect([first.isProtected, later.isProtected]).toEqual([false, true]);
  const changed = later.resources.filter(([id, resource], index) => {
    const before = first.resources[index];
    return before?.[0] !== id || JSON.stringify(before[1]) !== JSON.stringify(resource);
  });
  expect(changed.map(([, { Type }]) => Type)).toEqual(["AWS::DynamoDB::Table"]);
  expect(repeatAfterEachFault(later)).not.toContain(undefined);
});
