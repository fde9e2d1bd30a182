import { inject } from "vitest";
import { checkIamAccess } from "../../../lib/local/iam/check-iam-access.ts";
import { readStack } from "../../../lib/local/template/template.ts";

/** The stack of the integration tests, from its template. */
export const stack = await readStack(inject("engine").assembly);

/** Whether the proxy would forward a request under the role of a deployed function. */
export const allows = (label: string, operation: string, input: object) =>
  denial(label, operation, input) === undefined;

/** Why the proxy would not forward a request. */
export function denial(label: string, operation: string, input: object): string | undefined {
  const caller = stack.functions.find((fn) => fn.label === label);
  if (!caller) throw new Error(`There is no function ${label}.`);
  const body = Buffer.from(JSON.stringify({ TableName: stack.table.input.TableName, ...input }));
  return checkIamAccess(caller, operation, body, stack.table.findPartitionKey);
}
