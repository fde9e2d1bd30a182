import { join, resolve } from "node:path";
import { type BuildOptions, build } from "esbuild";
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
  // The SDK imports them when it needs them, which is never: DynamoDB has no event streams, and Lambda gives a function its
  // credentials in variables. Bundled, they add half of the size, and 12 ms of the processor to a cold start of 30.
  external: [
    "@aws-sdk/credential-provider-http",
    "@aws-sdk/credential-provider-ini",
    "@aws-sdk/credential-provider-process",
    "@aws-sdk/credential-provider-sso",
    "@aws-sdk/credential-provider-web-identity",
    "@smithy/core/event-streams",
    "@smithy/credential-provider-imds",
  ],
  plugins: [validatorsPlugin],
} satisfies BuildOptions;

/**
 * Bundles every function into a directory: `<name>/index.cjs`, whose `handler` Lambda calls.
 *
 * @param path of the directory; the CDK's command line names its own relative to the folder of the app
 */
export async function bundleFunctions(path: string): Promise<string> {
  const directory = resolve(path);
  const entryPoints = functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` }));
  const outputs = { outdir: directory, outExtension: { ".js": ".cjs" } };
  // In one build, which reads the SDK once.
  await build({ ...bundleOptions, ...outputs, entryPoints });
  return directory;
}
