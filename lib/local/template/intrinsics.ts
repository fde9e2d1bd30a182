import { UserError } from "../../errors.ts";

export type Properties = Readonly<Record<string, unknown>>;

/** The part of a CloudFormation template that the local run reads. */
export interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: Properties }>>;
}

/** Replaces every intrinsic function in a value of the template with its value on this machine. */
export type Resolve = (value: unknown) => unknown;

/** The AWS account id of the local run. */
export const localAccountId = "000000000000";

/** The AWS region of the local run. */
export const localRegion = "local";

const regional = `${localRegion}:${localAccountId}`;

interface NamedType {
  /** The property that names a resource of the type. */
  readonly name: string;
  readonly arn: (name: string) => string;
}

const table: NamedType = { name: "TableName", arn: (name) => `arn:aws:dynamodb:${regional}:table/${name}` };

/** The resource types whose names and ARNs the local run resolves. */
const namedTypes: Readonly<Record<string, NamedType>> = {
  "AWS::DynamoDB::Table": table,
  "AWS::DynamoDB::GlobalTable": table,
  "AWS::Lambda::Function": {
    name: "FunctionName",
    arn: (name) => `arn:aws:lambda:${regional}:function:${name}`,
  },
  "AWS::IAM::Role": { name: "RoleName", arn: (name) => `arn:aws:iam::${localAccountId}:role/${name}` },
  "AWS::SQS::Queue": { name: "QueueName", arn: (name) => `arn:aws:sqs:${regional}:${name}` },
  "AWS::Events::EventBus": { name: "Name", arn: (name) => `arn:aws:events:${regional}:event-bus/${name}` },
};

/** The resources of a type, each with its logical id. */
export const findResources = (template: Template, type: string): [string, Properties][] =>
  Object.entries(template.Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([id, { Properties = {} }]) => [id, Properties]);

/** Creates the resolver for a stack's template; it throws UserError for an unsupported intrinsic function. */
export function createResolver(stackName: string, template: Template): Resolve {
  const resolver = new Resolver(stackName, template);
  return (value) => resolver.resolve(value);
}

class Resolver {
  readonly #template: Template;
  readonly #pseudoParameters: ReadonlyMap<string, string>;
  readonly #intrinsics: ReadonlyMap<string, (argument: never) => unknown>;

  constructor(stackName: string, template: Template) {
    this.#template = template;
    this.#pseudoParameters = new Map([
      ["AWS::AccountId", localAccountId],
      ["AWS::Region", localRegion],
      ["AWS::Partition", "aws"],
      ["AWS::URLSuffix", "amazonaws.com"],
      ["AWS::StackName", stackName],
    ]);
    this.#intrinsics = new Map<string, (argument: never) => unknown>([
      ["Ref", (id: string) => this.#ref(id)],
      ["Fn::GetAtt", (path: string | [string, string]) => this.#getAtt(path)],
      ["Fn::Sub", (argument: string | [string, Properties]) => this.#sub(argument)],
      [
        "Fn::Join",
        ([separator, parts]: [string, unknown]) => (this.resolve(parts) as string[]).join(separator),
      ],
      ["Fn::Split", ([separator, text]: [string, unknown]) => String(this.resolve(text)).split(separator)],
      ["Fn::Select", ([index, list]: [number, unknown]) => (this.resolve(list) as unknown[])[Number(index)]],
    ]);
  }

  resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.resolve(item));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    const [[name, argument] = ["", undefined]] = entries;
    const intrinsic = entries.length === 1 ? this.#intrinsics.get(name) : undefined;
    if (intrinsic) return intrinsic(argument as never);
    if (name.startsWith("Fn::"))
      throw new UserError(`The local run does not support ${name} in the template.`);
    return Object.fromEntries(entries.map(([key, item]) => [key, this.resolve(item)]));
  }

  #ref(id: string): string {
    const pseudoParameter = this.#pseudoParameters.get(id);
    if (pseudoParameter !== undefined) return pseudoParameter;
    const resource = this.#template.Resources[id];
    if (!resource) throw new UserError(`The template refers to "${id}", which the local run cannot resolve.`);
    const named = resource.Properties?.[namedTypes[resource.Type]?.name ?? ""];
    return named === undefined ? id : String(this.resolve(named));
  }

  #getAtt(path: string | readonly string[]): string {
    const [id = "", attribute = ""] = typeof path === "string" ? path.split(".") : path;
    const name = this.#ref(id);
    const type = namedTypes[this.#template.Resources[id]?.Type ?? ""];
    if (type && attribute === "Arn") return type.arn(name);
    if (type === table && attribute === "StreamArn") return `${table.arn(name)}/stream/local`;
    throw new UserError(
      `The local run does not support the attribute ${attribute} of ${id} in the template.`,
    );
  }

  #sub(argument: string | readonly [string, Properties]): string {
    const [text, variables] = typeof argument === "string" ? [argument, {}] : argument;
    return text.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
      if (name.startsWith("!")) return `\${${name.slice(1)}}`;
      if (Object.hasOwn(variables, name)) return String(this.resolve(variables[name]));
      return name.includes(".") ? this.#getAtt(name) : this.#ref(name);
    });
  }
}
