import { join, resolve } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { routes } from "../../shared/routes.ts";
import { validatorsPlugin } from "./validators.ts";

/** Every function. A stage without a canary does not deploy that one. */
export const functionNames = [
  ...Object.values(routes).map(({ name }) => name),
  "authorize",
  "maintain-counts",
  "audit-counts",
  "publish-events",
  "canary",
  "deliver-message",
  "receive-webhook",
] as const;

/** The name of a function's file in `functions/` and of its folder among the bundles. */
export type FunctionName = (typeof functionNames)[number];

/** Says of the document client what its package does not: that importing it has no effect, so unused parts may go. */
const documentClientPlugin: Plugin = {
  name: "document-client",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^@aws-sdk\/lib-dynamodb$/ }, async ({ path, pluginData, ...options }) => {
      if (pluginData === "resolved") return undefined;
      return { ...(await resolve(path, { ...options, pluginData: "resolved" })), sideEffects: false };
    });
  },
};

/**
 * Modules that cost a cold start most, with the files that replace them: without, a function takes 11 and 4 ms more of the
 * processor to load, of about 30. Each file says why replacing is safe. A build fails if the SDK imports what it does not export.
 */
export const replacedModules: Readonly<Record<string, string>> = {
  "@aws-sdk/credential-provider-node": "./lib/bundling/credentials.ts",
  "@smithy/core/event-streams": "./lib/bundling/event-streams.ts",
};

/**
 * How functions are bundled: as minified CommonJS, which Node loads faster than ES modules. Their source maps are files
 * beside them that they do not name: they are not deployed.
 */
export const bundleOptions = {
  bundle: true,
  minify: true,
  sourcemap: "external",
  sourcesContent: false,
  platform: "node",
  target: "node24",
  format: "cjs",
  // `import()` of a module of Node's own loads all that it exports: of `node:http`, the whole of `fetch`.
  supported: { "dynamic-import": false },
  mainFields: ["module", "main"],
  legalComments: "none",
  // The thrown error has the details; its catcher prints them once.
  logLevel: "silent",
  absWorkingDir: join(import.meta.dirname, "../.."),
  alias: replacedModules,
  // They compile the validators in, and leave out what functions do not use.
  plugins: [validatorsPlugin, documentClientPlugin],
} satisfies BuildOptions;

/**
 * Bundles every function into a directory: `<name>/index.cjs`, whose `handler` Lambda calls.
 *
 * @param path of the directory; the CDK's command line names its own relative to the folder of the app
 * @returns the directory
 */
export async function bundleFunctions(path: string): Promise<string> {
  const directory = resolve(path);
  const entryPoints = functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` }));
  const outputs = { outdir: directory, outExtension: { ".js": ".cjs" } };
  // In one build, which reads the SDK once.
  await build({ ...bundleOptions, ...outputs, entryPoints });
  return directory;
}
