import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/**
 * Modules of the SDK with the files that replace them in a bundle. The SDK's own serve any environment; on Lambda,
 * credentials, region and endpoint come from variables alone. Each file says why replacing is safe.
 */
export const lambdaModules: Readonly<Record<string, string>> = {
  "@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js": "dynamodb-endpoint.ts",
  "@aws-sdk/client-ssm/dist-es/endpoint/endpointResolver.js": "ssm-endpoint.ts",
  "@aws-sdk/core/dist-es/submodules/client/middleware-recursion-detection/getRecursionDetectionPlugin.js":
    "recursion-detection.ts",
  "@aws-sdk/core/dist-es/submodules/client/util-endpoints/aws.js": "endpoint-functions.ts",
  "@aws-sdk/credential-provider-node/dist-es/index.js": "credentials.ts",
  "@aws-sdk/middleware-endpoint-discovery/dist-es/index.js": "endpoint-discovery.ts",
  "@smithy/core/dist-es/submodules/config/node-config-provider/configLoader.js": "settings.ts",
  "@smithy/core/dist-es/submodules/event-streams/index.js": "event-streams.ts",
  "@smithy/core/dist-es/submodules/serde/date-utils.js": "times.ts",
  "@smithy/core/dist-es/submodules/serde/uuid/v4.js": "uuid.ts",
};

/** The folder of the files. */
export const lambdaModulesDirectory = join(import.meta.dirname, "lambda-modules");

/** Lets esbuild replace these modules. A build fails if the SDK imports what a file does not export. */
export const lambdaModulesPlugin: Plugin = {
  name: "lambda-modules",
  setup({ onLoad }) {
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
