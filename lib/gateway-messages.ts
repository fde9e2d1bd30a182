/**
 * The `message` of each response that API Gateway gives by itself, by its status.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-troubleshooting-lambda.html
 */
export const gatewayMessages = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  413: "Request Entity Too Large",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;
