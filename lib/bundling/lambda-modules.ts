import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/**
 * Modules of the SDK that serve any environment, each with a shorter one in its place or with what shortens its code: on
 * Lambda, credentials, region and endpoint come from variables alone. Without the replaced ones and what only they
 * import, a bundle has a third of the code of the SDK.
 */
export const lambdaModules: Readonly<Record<string, string | ((code: string) => string)>> = {
  "@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js": "dynamodb-endpoint.ts",
  "@aws-sdk/client-dynamodb/dist-es/runtimeExtensions.js": "runtime-extensions.ts",
  "@aws-sdk/client-dynamodb/dist-es/schemas/schemas_0.js": withoutUnusedErrors,
  "@aws-sdk/client-dynamodb/package.json": onlyVersion,
  "@aws-sdk/client-ssm/dist-es/endpoint/endpointResolver.js": "ssm-endpoint.ts",
  "@aws-sdk/client-ssm/dist-es/schemas/schemas_0.js": withoutUnusedErrors,
  "@aws-sdk/client-ssm/package.json": onlyVersion,
  "@aws-sdk/core/dist-es/submodules/client/middleware-logger/loggerMiddleware.js": "logger.ts",
  "@aws-sdk/core/dist-es/submodules/client/middleware-recursion-detection/getRecursionDetectionPlugin.js":
    "recursion-detection.ts",
  "@aws-sdk/core/dist-es/submodules/client/middleware-user-agent/user-agent-middleware.js": "user-agent.ts",
  "@aws-sdk/core/dist-es/submodules/client/util-endpoints/aws.js": "endpoint-functions.ts",
  "@aws-sdk/credential-provider-node/dist-es/index.js": "credentials.ts",
  "@aws-sdk/lib-dynamodb/dist-es/pagination/QueryPaginator.js": "unused.ts",
  "@aws-sdk/lib-dynamodb/dist-es/pagination/ScanPaginator.js": "unused.ts",
  "@aws-sdk/middleware-endpoint-discovery/dist-es/index.js": "endpoint-discovery.ts",
  "@smithy/core/dist-es/submodules/checksum/sha256/Sha256Js.js": "unused.ts",
  "@smithy/core/dist-es/submodules/config/config-resolver/regionConfig/getInstanceMetadataRegion.js":
    "instance-region.ts",
  "@smithy/core/dist-es/submodules/config/node-config-provider/configLoader.js": "settings.ts",
  "@smithy/core/dist-es/submodules/endpoints/middleware-endpoint/adaptors/getEndpointFromInstructions.js":
    "endpoint-instructions.ts",
  "@smithy/core/dist-es/submodules/endpoints/middleware-endpoint/endpointMiddleware.js":
    "endpoint-middleware.ts",
  "@smithy/core/dist-es/submodules/event-streams/index.js": "unused.ts",
  "@smithy/core/dist-es/submodules/protocols/HttpBindingNormalizedSchema.js": "http-bindings.ts",
  "@smithy/core/dist-es/submodules/retry/util-retry/AdaptiveRetryStrategy.js": "unused.ts",
  "@smithy/core/dist-es/submodules/retry/util-retry/DefaultRateLimiter.js": "unused.ts",
  "@smithy/core/dist-es/submodules/serde/date-utils.js": "times.ts",
  "@smithy/core/dist-es/submodules/serde/util-stream/stream-collector.js": "stream-collector.ts",
  "@smithy/core/dist-es/submodules/serde/util-stream/stream-type-check.js": "stream-types.ts",
  "@smithy/core/dist-es/submodules/serde/uuid/v4.js": "uuid.ts",
  "@smithy/signature-v4/dist-es/HeaderFormatter.js": "unused.ts",
};

/** The errors whose classes or fields functions and retries use. Others have their names and messages all the same. */
export const usedErrors: readonly string[] = [
  "ConditionalCheckFailedException",
  "ProvisionedThroughputExceededException",
  "ReplicatedWriteConflictException",
  "ThrottlingException",
  "TransactionCanceledException",
];

/** The schemas of operations without the registrations of other errors: a registered class is in every bundle. */
function withoutUnusedErrors(code: string): string {
  return code.replaceAll(/^n0_registry\.registerError\((\w+)\$, \1\);$/gm, (registration, name) =>
    usedErrors.includes(name) ? registration : "",
  );
}

/** The SDK reads a client's version from its whole package.json. */
function onlyVersion(code: string): string {
  return JSON.stringify({ version: JSON.parse(code).version });
}

const directory = join(import.meta.dirname, "lambda-modules");

/** Lets esbuild replace these modules. */
export const lambdaModulesPlugin: Plugin = {
  name: "lambda-modules",
  setup({ onLoad }) {
    for (const [module, replacement] of Object.entries(lambdaModules)) {
      const filter = new RegExp(`/node_modules/${module.replaceAll(".", "[.]")}$`);
      onLoad({ filter }, async ({ path }) =>
        typeof replacement === "string"
          ? {
              contents: await readFile(join(directory, replacement), "utf8"),
              loader: "ts",
              resolveDir: directory,
            }
          : { contents: replacement(await readFile(path, "utf8")), loader: "default" },
      );
    }
  },
};
