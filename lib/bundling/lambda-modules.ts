import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/**
 * Modules of the SDK that serve any environment, each with one that is enough in a function: it takes credentials,
 * region and endpoint from Lambda's variables alone. Without the replaced ones and what only they import, a bundle has
 * half the code of the SDK.
 */
export const lambdaModules: Readonly<Record<string, string>> = {
  "@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js": "endpoint.ts",
  "@aws-sdk/core/dist-es/submodules/client/middleware-logger/loggerMiddleware.js": "logger.ts",
  "@aws-sdk/core/dist-es/submodules/client/middleware-recursion-detection/getRecursionDetectionPlugin.js":
    "recursion-detection.ts",
  "@aws-sdk/core/dist-es/submodules/client/middleware-user-agent/user-agent-middleware.js": "user-agent.ts",
  "@aws-sdk/credential-provider-node/dist-es/index.js": "credentials.ts",
  "@aws-sdk/middleware-endpoint-discovery/dist-es/index.js": "endpoint-discovery.ts",
  "@smithy/core/dist-es/submodules/checksum/sha256/Sha256Js.js": "unused.ts",
  "@smithy/core/dist-es/submodules/config/node-config-provider/configLoader.js": "settings.ts",
  "@smithy/core/dist-es/submodules/endpoints/middleware-endpoint/endpointMiddleware.js":
    "endpoint-middleware.ts",
  "@smithy/core/dist-es/submodules/event-streams/index.js": "unused.ts",
  "@smithy/core/dist-es/submodules/retry/util-retry/AdaptiveRetryStrategy.js": "unused.ts",
  "@smithy/core/dist-es/submodules/retry/util-retry/DefaultRateLimiter.js": "unused.ts",
  "@smithy/core/dist-es/submodules/serde/util-stream/stream-type-check.js": "stream-types.ts",
  "@smithy/core/dist-es/submodules/serde/uuid/v4.js": "uuid.ts",
  "@smithy/signature-v4/dist-es/HeaderFormatter.js": "unused.ts",
};

const directory = join(import.meta.dirname, "lambda-modules");

/** Lets esbuild replace these modules. */
export const lambdaModulesPlugin: Plugin = {
  name: "lambda-modules",
  setup({ onLoad }) {
    for (const [replaced, replacement] of Object.entries(lambdaModules)) {
      const filter = new RegExp(`/node_modules/${replaced.replaceAll(".", "[.]")}$`);
      onLoad({ filter }, async () => ({
        contents: await readFile(join(directory, replacement), "utf8"),
        loader: "ts",
      }));
    }
  },
};
