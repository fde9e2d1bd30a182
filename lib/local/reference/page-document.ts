interface Parameter {
  readonly $ref?: string;
  readonly schema?: { readonly examples?: readonly unknown[] };
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters: readonly Parameter[] }>>>
  >;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

/** Adapts the OpenAPI document to the page: it sends requests to the host that serves it. */
export function toPageDocument(document: Document): object {
  return {
    ...document,
    servers: [{ url: "/" }],
    paths: mapValues(document.paths, (path) =>
      mapValues(path, (operation) => ({ ...operation, parameters: operation.parameters.map(offerExample) })),
    ),
    components: {
      ...document.components,
      parameters: mapValues(document.components.parameters, offerExample),
    },
  };
}

/** Leaves a parameter out of requests until the user turns its example on: it would filter each list. */
function offerExample(parameter: Parameter): object {
  if (parameter.schema?.examples === undefined) return parameter;
  const { examples, ...schema } = parameter.schema;
  return { ...parameter, schema, examples: { example: { value: examples[0], "x-disabled": true } } };
}

const mapValues = <T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
