import { UserError } from "../../user-error.ts";

export type Properties = Readonly<Record<string, unknown>>;

/** The part of a CloudFormation template that the local run reads. */
export interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: Properties }>>;
}

/** Finds the resources of a type, with the values of their properties on this machine. */
export type FindResources = ReturnType<typeof openTemplate>;

/** The AWS account id of the local run. */
export const localAccountId = "000000000000";

/** The AWS region of the local run. */
export const localRegion = "local";

/** The ARN of a resource on this machine, such as `table/leads`. For a queue, pass its name, which is also its URL here. */
export const localArn = (service: string, resource: string) =>
  `arn:aws:${service}:${localRegion}:${localAccountId}:${resource}`;

/** The resource types that the local run resolves: the property with the name, and the part of the ARN before the name. */
const namedTypes: Readonly<Record<string, { readonly name: string; readonly arn: string }>> = {
  "AWS::DynamoDB::Table": { name: "TableName", arn: localArn("dynamodb", "table/") },
  "AWS::Lambda::Function": { name: "FunctionName", arn: localArn("lambda", "function:") },
  "AWS::Events::EventBus": { name: "Name", arn: localArn("events", "event-bus/") },
  "AWS::SQS::Queue": { name: "QueueName", arn: localArn("sqs", "") },
  "AWS::Logs::LogGroup": { name: "LogGroupName", arn: localArn("logs", "log-group:") },
  "AWS::IAM::Role": { name: "RoleName", arn: `arn:aws:iam::${localAccountId}:role/` },
};

/** Opens a stack's template. @throws UserError for an unsupported intrinsic function, once a resource with it is found */
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
  return (type: string) =>
    Object.entries(Resources)
      .filter(([, { Type }]) => Type === type)
      .map(([id, { Properties = {} }]) => ({
        /** The logical id. */
        id,
        name: getReference(id),
        /** Undefined for a type that the local run does not name in ARNs. */
        arn: namedTypes[type] && getAttribute([id, "Arn"]),
        properties: resolve(Properties) as Properties,
      }));

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
    // A reference to an alias is its ARN.
    if (Type === "AWS::Lambda::Alias")
      return localArn("lambda", `function:${resolve(Properties.FunctionName)}:${resolve(Properties.Name)}`);
    return String(resolve(Properties[namedTypes[Type]?.name ?? ""] ?? id));
  }

  function getAttribute([id, attribute]: readonly [string, string]): string {
    const name = getReference(id);
    const type = namedTypes[Resources[id]?.Type ?? ""];
    if (type && attribute === "Arn") return type.arn + name;
    // Roles and event source mappings refer to the stream.
    if (attribute === "StreamArn") return localArn("dynamodb", `table/${name}/stream/local`);
    throw new UserError(
      `The local run does not support the attribute ${attribute} of ${id} in the template.`,
    );
  }
}
