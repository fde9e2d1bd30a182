import { createLeadRoute } from "../../../shared/routes.ts";
import type { openApiDocument } from "../../openapi/document.ts";

/** The OpenAPI document for the page at `/docs`, as JSON. */
export async function pageDocument(): Promise<string> {
  // A static import would delay the start of the run.
  const { openApiDocument } = await import("../../openapi/document.ts");
  return JSON.stringify(toPageDocument(openApiDocument()), adapt)
    .replaceAll("](#", "](#tag/")
    .replaceAll(/`(GET|POST) (\/api\/v1\/(\w+))[^`]*`/g, "[$&](#tag/$3/$1$2)");
}

const links =
  "\n\nThis run serves **[the document](/docs/openapi.json)**, and **[an inbox](/inbox)** that shows the conversations and the requests that it takes.";

/**
 * Adapts the OpenAPI document to the page. Requests go to the host that serves the page. Each guide is the description of a
 * tag, because Scalar's search finds the words of tags but not those of the introduction.
 */
function toPageDocument(document: ReturnType<typeof openApiDocument>) {
  const [introduction = "", ...sections] = document.info.description.split(/^# /m);
  const guides = new Map(
    sections.map((section) => {
      const [name = ""] = section.split("\n", 1);
      return [name, { name, description: section.slice(name.length).trim() }];
    }),
  );
  const tags = document.tags.map((tag) => guides.get(tag.name) ?? tag);
  return {
    ...document,
    info: { ...document.info, description: introduction.trim() + links },
    tags: [...[...guides.values()].filter((guide) => !tags.includes(guide)), ...tags],
    servers: [{ url: "/" }],
  };
}

/** The part of a parameter of the OpenAPI document that has an example. */
interface Parameter {
  readonly in?: string;
  readonly name?: string;
  readonly schema?: { readonly examples?: readonly unknown[] };
}

/** The names of the body examples. On the page, choosing one also chooses the parameter example with the same name. */
const exampleNames = ["lead", "ifExists=update", "message", "update=message", "update=conversation"];

/**
 * Adapts a part of the document. It marks the fields of a lead that are required without `ifExists`. Scalar sorts responses
 * by status and shows the first one: renamed to `2XX`, 200 follows 201.
 */
function adapt(key: string, value: object | null) {
  if (key === "NewLead") return { ...value, required: createLeadRoute.body.required };
  if (key !== "responses" || !value || !(201 in value)) return offerExample(value);
  const { 200: changed, ...others } = value as Record<string, { description?: string }>;
  return { ...others, "2XX": { ...changed, description: `200: ${changed?.description}` } };
}

/**
 * Leaves each parameter out of requests until the user turns its example on, because it would filter each list. A parameter
 * that chooses a body is turned on with the example of that body.
 */
function offerExample(value: Parameter | null) {
  if (!value?.in || !value.schema?.examples) return value;
  const { examples, ...schema } = value.schema;
  const offered = exampleNames.map((name) => {
    const [parameter, chosen] = name.split("=");
    const isChosen = parameter === value.name && chosen !== undefined;
    return [name, isChosen ? { value: chosen } : { value: examples[0], "x-disabled": true }];
  });
  return { ...value, schema, examples: Object.fromEntries(offered) };
}
