import { type Route, type RouteName, routes } from "../../shared/routes.ts";
import { openApiDocument } from "./document.ts";
import { requestExamples } from "./examples.ts";

type Document = ReturnType<typeof openApiDocument>;
type Operation = NonNullable<NonNullable<Document["paths"][string]>["get"]>;

/** The order in which all requests succeed: a message needs the lead. */
const order: readonly RouteName[] = ["create-lead", "list-leads", "send-message", "list-conversations"];

/** What the response of a request sets for the requests after it. */
const variablesOfResponse: Partial<Record<RouteName, string>> = { "create-lead": "leadId" };

function buildRequest(name: RouteName, document: Document) {
  const { method, path, kind, success }: Route = routes[name];
  const operation = document.paths[path]?.[method.toLowerCase()] as Operation;
  const variable = variablesOfResponse[name];
  return {
    name: operation.summary,
    event: [
      {
        listen: "test",
        script: {
          type: "text/javascript",
          exec: [
            `pm.test("Status ${success}", () => pm.response.to.have.status(${success}));`,
            ...(variable ? [`pm.collectionVariables.set("${variable}", pm.response.json().id);`] : []),
          ],
        },
      },
    ],
    request: {
      method,
      description: operation.description,
      header: kind === "write" ? [idempotencyKey] : [],
      url: buildUrl(path, operation),
      ...buildBody(name),
    },
  };
}

/** Generated for each request, so that each one takes effect. */
const idempotencyKey = { key: "Idempotency-Key", value: "{{$guid}}" };

/** The optional parameters are disabled, with an example of each. */
function buildUrl(path: string, { parameters }: Operation) {
  const query = parameters.flatMap((parameter) =>
    "in" in parameter && parameter.in === "query"
      ? [
          {
            key: parameter.name,
            value: String(parameter.schema.examples[0]),
            description: parameter.description,
            disabled: true,
          },
        ]
      : [],
  );
  const parts = path.split("/").slice(1);
  return {
    raw: `{{baseUrl}}${path}`,
    host: ["{{baseUrl}}"],
    path: parts,
    ...(query.length > 0 && { query }),
  };
}

function buildBody(name: RouteName) {
  const example = requestExamples[name];
  if (!example) return {};
  const body = "leadId" in example ? { ...example, leadId: "{{leadId}}" } : example;
  const raw = JSON.stringify(body, undefined, 2);
  return { body: { mode: "raw", raw, options: { raw: { language: "json" } } } };
}

/**
 * The four requests of the API as a collection for Postman, which Bruno imports too. Each one succeeds once the variable
 * `apiKey` is set: creating a lead sets `leadId` for the message.
 *
 * @see https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html
 */
export function postmanCollection() {
  const document = openApiDocument();
  const [server] = document.servers;
  return {
    info: {
      name: document.info.title,
      description:
        "Set the variable `apiKey`, then send the requests from top to bottom. `baseUrl` is the local run unless you set another.",
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: server?.url },
      { key: "apiKey", value: "" },
      { key: "leadId", value: "" },
    ],
    item: order.map((name) => buildRequest(name, document)),
  };
}
