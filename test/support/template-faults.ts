import { loadAwsServiceSpecSync } from "@aws-cdk/aws-service-spec";

const data = loadAwsServiceSpecSync();
const describeType = (type: string) =>
  data.lookup("resource", "cloudFormationType", "equals", type).only().properties;

type Properties = ReturnType<typeof describeType>;
type PropertyType = Properties[string]["type"];

/** A template as JSON. */
export interface Synthesized {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: object }>>;
}

/**
 * What contradicts AWS's data of the resource types: a property that they do not have or that only AWS sets, one that is
 * missing, and a value of another type, that is not allowed, or that is an empty text. The data has no patterns.
 */
export const templateFaults = ({ Resources }: Synthesized): string[] =>
  Object.entries(Resources).flatMap(([id, { Type, Properties = {} }]) =>
    propertyFaults(describeType(Type), Properties, id),
  );

function propertyFaults(properties: Properties, values: object, path: string): string[] {
  const missing = Object.entries(properties)
    .filter(([name, { required }]) => required && !(name in values))
    .map(([name]) => `${path}.${name} is missing`);
  const wrong = Object.entries(values).flatMap(([name, value]) => {
    const property = properties[name];
    return property
      ? valueFaults(property.type, value, `${path}.${name}`)
      : [`${path}.${name} cannot be set`];
  });
  return [...missing, ...wrong];
}

/** CloudFormation computes the value, and the template does not have its type. */
const isComputed = (value: unknown) => /^(?:Ref|Fn::\w+)$/.test(Object.keys(Object(value))[0] ?? "");

function valueFaults(type: PropertyType, value: unknown, path: string): string[] {
  if (value === "") return [`${path} is empty`];
  if (isComputed(value)) return [];
  const each = (element: PropertyType) =>
    Object.entries(Object(value)).flatMap(([key, item]) => valueFaults(element, item, `${path}.${key}`));
  if (type.type === "json" || type.type === "tag")
    return typeof value === "object" ? each({ type: "json" }) : [];
  if (type.type === "union") {
    // Lists that templates could once write as any JSON are lists.
    const list = type.types.filter((option) => option.type === "array");
    const found = (list.length > 0 ? list : type.types).map((option) => valueFaults(option, value, path));
    return found.find((faults) => faults.length === 0) ?? found.flat();
  }
  const isList = Array.isArray(value);
  if (type.type === "array" && isList) return each(type.element);
  if (typeof value === "object" && !isList) {
    if (type.type === "map") return each(type.element);
    if (type.type === "ref")
      return propertyFaults(data.get("typeDefinition", type.reference).properties, value ?? {}, path);
  }
  const allowed: readonly unknown[] | undefined = "allowedValues" in type ? type.allowedValues : undefined;
  const isRight = allowed?.includes(value) ?? typeof value === type.type.replace("integer", "number");
  return isRight ? [] : [`${path} is ${JSON.stringify(value)}, not ${allowed?.join(" or ") ?? type.type}`];
}
