import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Config } from "../config/config.ts";
import { grantStatement, rateLimitGrant } from "./grants.ts";
import type { FunctionSettings } from "./service-function.ts";

/** What the function of a route needs to hold accounts to the stage's limit; nothing where it has none. */
export const rateLimitSettings = (
  { rateLimitRequests, rateLimitSeconds }: Config,
  table: Table,
): Pick<FunctionSettings, "environment" | "policies"> =>
  rateLimitRequests === 0
    ? {}
    : {
        environment: {
          RATE_LIMIT_REQUESTS: String(rateLimitRequests),
          RATE_LIMIT_SECONDS: String(rateLimitSeconds),
        },
        policies: { RateLimit: [grantStatement(table, rateLimitGrant)] },
      };
