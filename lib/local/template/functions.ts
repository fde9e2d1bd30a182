import { basename, resolve } from "node:path";
import type { AssetManifest } from "aws-cdk-lib/cloud-assembly-schema";
import { UserError } from "../../user-error.ts";
import type { FindResources, Properties } from "./intrinsics.ts";
import { readStatements } from "./statements.ts";

/** A Lambda function of the stack. */
export type LocalFunction = ReturnType<typeof readFunctions>[number];

/** Invokes a function with a JSON payload; rejects when the function fails. */
export type Invoke = (fn: LocalFunction, payload: string) => Promise<unknown>;

/**
 * Reads the functions, with their roles, from the template. Only inline policies of a role grant something here.
 *
 * @param directory of the cloud assembly, whose manifest names the folder of each function's code
 */
export function readFunctions(
  findResources: FindResources,
  { files = {} }: AssetManifest,
  directory: string,
) {
  const roles = findResources("AWS::IAM::Role");
  return findResources("AWS::Lambda::Function").map(({ id, name, properties }) => {
    const asset = files[basename(String((properties.Code as Properties).S3Key), ".zip")];
    if (!asset) throw new UserError(`The code of the function ${id} is not among the stack's assets.`);
    const [label = ""] = String(asset.displayName).split("/");
    const { Variables = {} } = (properties.Environment ?? {}) as { Variables?: Record<string, string> };
    const role = roles.find(({ arn }) => arn === properties.Role);
    if (!role)
      throw new UserError(`The template gives ${id} the role ${properties.Role}, which it does not define.`);
    const policies = (role.properties.Policies ?? []) as Properties[];
    return {
      name,
      /** The function's name in the log, which is that of its construct. */
      label,
      /** The folder of the code that would be deployed. */
      codeDirectory: resolve(directory, asset.source.path ?? ""),
      /** File and export, such as `index.handler`. */
      handler: String(properties.Handler),
      /** Milliseconds. */
      timeout: Number(properties.Timeout) * 1000,
      /** Megabytes. */
      memorySize: Number(properties.MemorySize),
      environment: Variables,
      role: { name: role.name, statements: policies.flatMap(readStatements) },
    };
  });
}

/**
 * Finds the function that a part of the template invokes.
 *
 * @param target the function's name, its ARN, or the URI that invokes it; the name of an alias may follow
 * @throws UserError when the target is not a function of the stack
 */
export function findFunction(functions: readonly LocalFunction[], target: unknown) {
  const [, invoked] = /^(?:.*:function:)?([^:/]+)/.exec(String(target)) ?? [];
  const fn = functions.find(({ name }) => name === invoked);
  if (!fn) throw new UserError(`The template calls ${target}, which is not a function of the stack.`);
  return fn;
}
