import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { build, type Plugin as EsbuildPlugin } from "esbuild";
import { maxFaults } from "../../shared/http/faults.ts";
import { type Route, type RouteName, routes } from "../../shared/routes.ts";
import { validation } from "./validation.ts";

/** The prefix of virtual modules: `validate:<route>` validates `{ query, body }` of that route. */
const prefix = "validate:";

/** The JSON Schema of a request to a route, as its handler sees it. */
function requestSchema(route: Route) {
  return {
    type: "object",
    properties: { query: route.query, ...(route.body && { body: route.body }) },
  };
}

/** `shared/http/schema-faults.ts` has messages of its own. */
const ajv = new Ajv2020({ ...validation, messages: false, code: { source: true, esm: true, optimize: 2 } });

/** The source of an ES module whose default export validates requests to the route, without Ajv's compiler. */
function validatorSource(name: RouteName): string {
  return stopAtMaxFaults(standalone.default(ajv, ajv.compile(requestSchema(routes[name]))));
}

/**
 * Lets a validator return as soon as it has found as many errors as a response lists: Ajv itself stops at the first
 * error or never, and tens of thousands of errors cost far more than the request is long.
 *
 * @throws Error when Ajv's code has another form than this expects
 */
function stopAtMaxFaults(code: string): string {
  const [, validate] = /export default (\w+);/.exec(code) ?? [];
  const stopped = code.replaceAll(
    "errors++;",
    `if(++errors===${maxFaults}){${validate}.errors=vErrors;return false;}`,
  );
  // Ajv compiles a schema with references to several functions, which call each other.
  const functions = code.match(/\bfunction validate\d+\(/g)?.length;
  if (validate === undefined || stopped === code || functions !== 1)
    throw new Error("The code of a validator does not count errors as expected.");
  return stopped;
}

function parseRoute(specifier: string): RouteName {
  const name = specifier.slice(prefix.length);
  if (!Object.hasOwn(routes, name))
    throw new Error(`There is no route "${name}" to compile a validator for.`);
  return name as RouteName;
}

/** Lets esbuild resolve `validate:<route>` imports. */
export function validatorsPlugin(): EsbuildPlugin {
  return {
    name: "validators",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^validate:/ }, ({ path }) => ({ path, namespace: "validate" }));
      onLoad({ filter: /.*/, namespace: "validate" }, ({ path }) => ({
        contents: validatorSource(parseRoute(path)),
        resolveDir: import.meta.dirname,
        loader: "js",
      }));
    },
  };
}

/** Lets Vite, and so the tests, resolve `validate:<route>` imports: the same code, as a self-contained module. */
export function validatorsVitePlugin() {
  return {
    name: "validators",
    resolveId: (id: string) => (id.startsWith(prefix) ? `\0${id}` : undefined),
    async load(id: string) {
      if (!id.startsWith(`\0${prefix}`)) return undefined;
      const stdin = { contents: `export { default } from "${id.slice(1)}"`, resolveDir: import.meta.dirname };
      const result = await build({
        stdin,
        bundle: true,
        write: false,
        format: "esm",
        plugins: [validatorsPlugin()],
      });
      return result.outputFiles[0]?.text;
    },
  };
}
