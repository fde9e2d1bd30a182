import { Logger } from "@aws-lambda-powertools/logger";
import { injectLambdaContext } from "@aws-lambda-powertools/logger/middleware";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { logMetrics } from "@aws-lambda-powertools/metrics/middleware";
import { Tracer } from "@aws-lambda-powertools/tracer";
import { captureLambdaHandler } from "@aws-lambda-powertools/tracer/middleware";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import { z } from "zod";

const options = { serviceName: "bench", namespace: "bench" };
const logger = new Logger(options);
const metrics = new Metrics(options);
const tracer = new Tracer({ ...options, enabled: false });
const table = DynamoDBDocumentClient.from(tracer.captureAWSv3Client(new DynamoDBClient()));
const commands = { GetCommand, PutCommand, QueryCommand, TransactWriteCommand };
const request = z.object({ command: z.enum(["GetCommand"]), input: z.record(z.string(), z.unknown()) });

/** The bare SDK's handler, with the usual logger, metrics, tracer and validation. */
export const handler = middy()
  .use(injectLambdaContext(logger))
  .use(logMetrics(metrics))
  .use(captureLambdaHandler(tracer))
  .handler(async (event) => {
    const { command, input } = request.parse(event);
    const { Item } = await table.send(new commands[command](input));
    logger.info("read");
    return { statusCode: 200, body: JSON.stringify(Item ?? null) };
  });
