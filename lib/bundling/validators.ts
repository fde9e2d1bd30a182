import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { _, Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import type { Plugin } from "esbuild";
import type { UncompiledValidator } from "../../shared/schemas/validator.ts";

/**
 * Lets esbuild replace the modules of validators, `shared/…-validators.ts`, by what Ajv compiles them to. So a bundle has
 * neither Ajv's compiler nor the validators that it does not use.
 */
export const validatorsPlugin: Plugin = {
  name: "validators",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]shared[\\/].*-validators\.ts$/ }, async ({ path }) => {
      const validators: Record<string, UncompiledValidator> = await import(pathToFileURL(path).href);
      const exported = Object.entries(validators).map(
        ([name, validator]) => `export const ${name} = ${validatorCode(validator)};`,
      );
      return { contents: exported.join("\n"), resolveDir: dirname(path), loader: "js" };
    });
  },
};

/** An expression that is the validator. Ajv writes a CommonJS module; esbuild leaves out a pure call whose result is unused. */
function validatorCode({ schema, options, properties }: UncompiledValidator): string {
  // The formats that are functions are exports of this module.
  const formats = _`require("../normalize-label.ts")`;
  const ajv = new Ajv({ ...options, code: { source: true, optimize: 2, formats } });
  // Nobody reads where in the schema an error is, and of a stored record only the property that has it.
  const unread = options.allErrors
    ? /,schemaPath:"[^"]*"/g
    : /,schemaPath:"[^"]*"(?:,keyword:"[^"]*",params:\{(?!missingProperty)[^{}]*\})?/g;
  const module = standalone.default(ajv, ajv.compile(schema)).replaceAll(unread, "");
  const validate = `/* @__PURE__ */ ((module) => {${module}\nreturn module.exports;})({})`;
  return `/* @__PURE__ */ Object.assign(${validate}, ${JSON.stringify({ properties })})`;
}
