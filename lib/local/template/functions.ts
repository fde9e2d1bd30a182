import { UserError } from "../../user-error.ts";
import type { FindResources, Properties } from "./intrinsics.ts";
import { readStatements } from "./statements.ts";

/** A Lambda function of the stack. */
export type LocalFunction = ReturnType<typeof readFunctions>[number];

/** Invokes a function with a JSON payload; rejects when the function fails. */
export type Invoke = (fn: LocalFunction, payload: string) => Promise<unknown>;

/** Finds the code that would be uploaded under an S3 key. */
export type FindAsset = (
  objectKey: string,
) => { readonly directory: string; readonly name: string } | undefined;

/** Reads the functions, with their roles, from the template. Only inline policies of a role grant something here. */
export function readFunctions(findResources: FindResources, findAsset: FindAsset) {
  const roles = findResources("AWS::IAM::Role");
  return findResources("AWS::Lambda::Function").map(({ id, name, properties }) => {
    const asset = findAsset(String((properties.Code as Properties).S3Key));
    if (!asset) throw new UserError(`The code of the function ${id} is not among the stack's assets.`);
    const { Variables = {} } = (properties.Environment ?? {}) as { Variables?: Properties };
    const role = roles.find(({ arn }) => arn === properties.Role);
    if (!role)
      throw new UserError(`The template gives ${id} the role ${properties.Role}, which it does not define.`);
    const policies = (role.properties.Policies ?? []) as Properties[];
    return {
      name,
      /** The function's name in the log, which is that of its construct. */
      label: asset.name,
      /** The folder of the code that would be deployed. */
      codeDirectory: asset.directory,
      /** File and export, such as `index.handler`. */
      handler: String(properties.Handler),
      /** Milliseconds. */
      timeout: Number(properties.Timeout) * 1000,
      /** Megabytes. */
      memorySize: Number(properties.MemorySize),
      environment: Object.fromEntries(Object.entries(Variables).map(([key, value]) => [key, String(value)])),
      role: { name: role.name, statements: policies.flatMap(readStatements) },
    };
  });
}

/**
 * Finds the function that a part of the template invokes.
 *
 * @param target the function's name, its ARN, or the URI that invokes it; the name of an alias may follow
 * @param caller the beginning of the error's message
 * @throws UserError when the target is not a function of the stack
 */
export function findFunction(functions: readonly LocalFunction[], target: unknown, caller: string) {
  const [, invoked] = /^(?:.*:function:)?([^:/]+)/.exec(String(target)) ?? [];
  const fn = functions.find(({ name }) => name === invoked);
  if (!fn) throw new UserError(`${caller} ${target}, which is not a function of the stack.`);
  return fn;
}
