import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/**
 * Modules of the SDK with the files that replace them in a bundle: two that cost a cold start most, and three that are large.
 * The SDK's own serve any environment. Each file says why replacing is safe.
 */
export const lambdaModules: Readonly<Record<string, string>> = {
  "@aws-sdk/credential-provider-node/dist-es/index.js": "credentials.ts",
  "@aws-sdk/middleware-endpoint-discovery/dist-es/index.js": "endpoint-discovery.ts",
  "@smithy/core/dist-es/submodules/event-streams/index.js": "event-streams.ts",
  "@smithy/core/dist-es/submodules/retry/util-retry/AdaptiveRetryStrategy.js": "adaptive-retries.ts",
  "@smithy/core/dist-es/submodules/serde/date-utils.js": "times.ts",
};

/** The folder of the files. */
export const lambdaModulesDirectory = join(import.meta.dirname, "lambda-modules");

/** Lets esbuild replace these modules. A build fails if the SDK imports what a file does not export. */
export const lambdaModulesPlugin: Plugin = {
  name: "lambda-modules",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:fs\/promises$/ }, () => ({
      path: join(import.meta.dirname, "fs-promises.ts"),
    }));
    for (const [module, file] of Object.entries(lambdaModules)) {
      const filter = new RegExp(`/node_modules/${module.replaceAll(".", "[.]")}$`);
      onLoad({ filter }, async () => ({
        contents: await readFile(join(lambdaModulesDirectory, file), "utf8"),
        loader: "ts",
        resolveDir: lambdaModulesDirectory,
      }));
    }
  },
};
