/**
 * The fields of the gateway's access log. They contain only the method and the path of the request itself, because its query
 * and headers may contain keys and personal data.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging-variables.html
 */
export const accessLogFields = {
  requestId: "$context.requestId",
  requestTime: "$context.requestTime",
  routeKey: "$context.routeKey",
  httpMethod: "$context.httpMethod",
  path: "$context.path",
  protocol: "$context.protocol",
  status: "$context.status",
  responseLength: "$context.responseLength",
  responseLatency: "$context.responseLatency",
  integrationLatency: "$context.integration.latency",
  integrationStatus: "$context.integration.status",
  integrationError: "$context.integration.error",
  accountId: "$context.authorizer.accountId",
  keyId: "$context.authorizer.keyId",
  frozenAt: "$context.authorizer.frozenAt",
  authorizerError: "$context.authorizer.error",
  gatewayError: "$context.error.message",
  sourceIp: "$context.identity.sourceIp",
} as const;
