import { UserError } from "../../user-error.ts";

export type Properties = Readonly<Record<string, unknown>>;

/** The part of a CloudFormation template that the local run reads. */
export interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: Properties }>>;
}

/** A template with its values on this machine. */
export type StackTemplate = ReturnType<typeof openTemplate>;

/** Replaces every intrinsic function in a value of the template with its value on this machine. */
export type Resolve = StackTemplate["resolve"];

/** The AWS account id of the local run. */
export const localAccountId = "000000000000";

/** The AWS region of the local run. */
export const localRegion = "local";

/** The ARN of a Lambda function, in front of its name. */
export const lambdaArn = `arn:aws:lambda:${localRegion}:${localAccountId}:function:`;

/** The ARN of a table, in front of its name. */
export const tableArn = `arn:aws:dynamodb:${localRegion}:${localAccountId}:table/`;

/** The ARN of an event bus, in front of its name. */
export const busArn = `arn:aws:events:${localRegion}:${localAccountId}:event-bus/`;

/** The ARN of a queue, in front of its name. Its URL is its name here. */
export const queueArn = `arn:aws:sqs:${localRegion}:${localAccountId}:`;

/** The ARN of a parameter, in front of its name, which begins with a slash. */
export const parameterArn = `arn:aws:ssm:${localRegion}:${localAccountId}:parameter`;

/** The resource types that the local run resolves: the property with the name, and the ARN in front of the name. */
const namedTypes: Readonly<Record<string, { readonly name: string; readonly arn: string }>> = {
  "AWS::DynamoDB::Table": { name: "TableName", arn: tableArn },
  "AWS::Lambda::Function": { name: "FunctionName", arn: lambdaArn },
  "AWS::Events::EventBus": { name: "Name", arn: busArn },
  "AWS::SQS::Queue": { name: "QueueName", arn: queueArn },
  "AWS::IAM::Role": { name: "RoleName", arn: `arn:aws:iam::${localAccountId}:role/` },
};

/** Opens a stack's template. */
export function openTemplate({ Resources }: Template) {
  const pseudoParameters = new Map([
    ["AWS::AccountId", localAccountId],
    ["AWS::Region", localRegion],
    ["AWS::Partition", "aws"],
    ["AWS::URLSuffix", "amazonaws.com"],
  ]);
  const intrinsics = new Map<string, (argument: never) => unknown>([
    ["Ref", getReference],
    ["Fn::GetAtt", getAttribute],
    ["Fn::Join", ([separator, parts]: [string, unknown]) => (resolve(parts) as string[]).join(separator)],
    ["Fn::Sub", (text: string) => text.replaceAll(/\$\{([\w:]+)\}/g, (_, id) => getReference(id))],
    ["Fn::Split", ([separator, text]: [string, unknown]) => String(resolve(text)).split(separator)],
    ["Fn::Select", ([index, list]: [number, unknown]) => (resolve(list) as unknown[])[Number(index)]],
  ]);
  return { resolve, findResources };

  /** The resources of a type, each with its logical id; their properties are not resolved. */
  function findResources(type: string): [string, Properties][] {
    return Object.entries(Resources)
      .filter(([, { Type }]) => Type === type)
      .map(([id, { Properties = {} }]) => [id, Properties]);
  }

  /** @throws UserError for an unsupported intrinsic function */
  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    const [[name, argument] = ["", undefined]] = entries;
    const intrinsic = entries.length === 1 ? intrinsics.get(name) : undefined;
    if (intrinsic) return intrinsic(argument as never);
    if (name.startsWith("Fn::"))
      throw new UserError(`The local run does not support ${name} in the template.`);
    return Object.fromEntries(entries.map(([key, item]) => [key, resolve(item)]));
  }

  function getReference(id: string): string {
    const pseudoParameter = pseudoParameters.get(id);
    if (pseudoParameter !== undefined) return pseudoParameter;
    const resource = Resources[id];
    if (!resource) throw new UserError(`The template refers to "${id}", which the local run cannot resolve.`);
    const { Type, Properties = {} } = resource;
    // Of an alias, it is the ARN.
    if (Type === "AWS::Lambda::Alias")
      return `${lambdaArn}${resolve(Properties.FunctionName)}:${resolve(Properties.Name)}`;
    return String(resolve(Properties[namedTypes[Type]?.name ?? ""] ?? id));
  }

  function getAttribute([id, attribute]: readonly [string, string]): string {
    const name = getReference(id);
    const type = namedTypes[Resources[id]?.Type ?? ""];
    if (type && attribute === "Arn") return type.arn + name;
    // Roles name it.
    if (attribute === "StreamArn") return `${tableArn}${name}/stream/local`;
    throw new UserError(
      `The local run does not support the attribute ${attribute} of ${id} in the template.`,
    );
  }
}
