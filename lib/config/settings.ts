import type { FromSchema, JSONSchema } from "json-schema-to-ts";

/** The settings that belong to one stage alone: `-c like` does not copy them. */
export const ownSettings = ["domainName", "certificateArn", "alarmsTo", "canary", "logErrorMessages"];

const wholeNumber = <const T extends object>(minimum: number, maximum: number, others: T) => ({
  type: "integer" as const,
  minimum,
  maximum,
  errorMessage: `a whole number from ${minimum} to ${maximum}`,
  ...others,
});

const flag = <const T extends object>(others: T) => ({
  type: "boolean" as const,
  errorMessage: "true or false",
  ...others,
});

/** A setting that is a text. @param errorMessage which texts are allowed */
const text = <const T extends JSONSchema & object>(errorMessage: string, others: T) => ({
  type: "string" as const,
  errorMessage,
  ...others,
});

const hostLabel = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

const alarmTarget = text("the ARN of a standard SNS topic", {
  // A name with a dot is that of a FIFO topic, to which CloudWatch cannot publish.
  pattern: String.raw`^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$`,
  description: "The ARN of an SNS topic.",
});

/**
 * The JSON Schema of `stages/<name>.json`: the one list of settings, with their meaning, their defaults and what is
 * allowed. `npm run generate` writes it to `stages/stage.schema.json` and to the table in docs/configuration.md.
 *
 * A `description` is in Markdown without line breaks. An `errorMessage` completes the sentence "The setting must be …".
 * Editors show the former, and editors based on VS Code also the latter.
 */
export const stageSchema = {
  // The newest draft that all editors know.
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "The settings of a stage",
  type: "object",
  errorMessage: "a JSON object",
  additionalProperties: false,
  properties: {
    $schema: { type: "string", description: "`./stage.schema.json`, for the completion of your editor." },
    account: text("an AWS account id of 12 digits in quotes", {
      pattern: String.raw`^\d{12}$`,
      description:
        "The AWS account of the stage: the CDK deploys to no other. Operator commands with `--stage` stop with credentials of another account, but only if the stage has a file of its own.",
    }),
    region: text("an AWS region such as eu-central-1", {
      pattern: String.raw`^[a-z]+(?:-[a-z]+)+-\d+$`,
      description:
        "The AWS region of the stage: it is deployed there, whatever region the environment names. Operator commands with `--stage` also use it, but only if the stage has a file of its own.",
    }),
    removalPolicy: {
      enum: ["destroy", "retain"],
      errorMessage: "destroy or retain",
      default: "retain",
      description:
        "Whether the table, the logs and the queues of channels are deleted (`destroy`) or kept (`retain`) when they leave the stack. With `retain`, deleting the table and the stack is refused, and the table can be restored to any second of the last 35 days.",
    },
    throttleRate: wholeNumber(1, 100_000, {
      default: 5000,
      description: "Requests per second of all accounts together.",
    }),
    throttleBurst: wholeNumber(1, 100_000, {
      default: 2500,
      description:
        "Requests of all accounts together that can arrive at once. Lambda needs an environment for each: most AWS accounts have 1,000, and a new one has 10.",
    }),
    rateLimitRequests: wholeNumber(0, 100_000_000, {
      default: 6000,
      description:
        "Requests of each account a minute, unless `npm run ops -- accounts set-limit` gives it a limit of its own. 0 turns off the limits of all accounts.",
    }),
    deployment: {
      enum: ["all-at-once", "canary"],
      errorMessage: "all-at-once or canary",
      default: "all-at-once",
      description:
        "How requests reach new code: all at once, or with `canary` one in ten for half an hour and then all. An alarm in that time returns them to the old code.",
    },
    canary: flag({
      default: false,
      description:
        "Whether a function uses the API from outside every five minutes. It needs a key, which an operator stores.",
    }),
    alarmsTo: {
      type: "object",
      additionalProperties: false,
      required: ["page", "ticket"],
      properties: { page: alarmTarget, ticket: alarmTarget },
      errorMessage: "an object with the ARN of a standard SNS topic for page and for ticket",
      description:
        '[Where alarms](operations.md#where-alarms-go) that page somebody and alarms that can wait are sent: `{ "page": …, "ticket": … }`, with the same ARN or different ones.',
    },
    runbookUrl: text("an https URL without a fragment", {
      pattern: String.raw`^https://[^\s#]+$`,
      format: "uri",
      default: "docs/operations.md",
      description: "The https address where you publish docs/operations.md. Alarms link to it.",
    }),
    errorsUrl: text("an https URL without a fragment", {
      pattern: String.raw`^https://[^\s#]+$`,
      format: "uri",
      description:
        "The https address where you publish docs/errors.md. The `type` of each problem is then this address, `#` and the code.",
    }),
    channels: flag({
      default: false,
      description:
        "Whether the service itself sends and receives the messages of WhatsApp and Instagram. `npm run ops -- channels connect` connects an account.",
    }),
    deliveryConcurrency: wholeNumber(2, 1000, {
      default: 5,
      description:
        "The most messages of WhatsApp and Instagram that are sent at the same time. Each environment of Lambda sends some three a second, and new AWS accounts have ten environments in all.",
    }),
    webhookConcurrency: wholeNumber(1, 1000, {
      description:
        "The most calls of the public webhook that Lambda runs at the same time: it reserves as many environments for it. Without this setting, strangers can use up the environments of all functions. New AWS accounts have ten in all, and cannot reserve any.",
    }),
    // Connectors have to remember the ids of events for 15 days.
    eventArchiveDays: wholeNumber(1, 14, {
      description:
        "How many days the event bus keeps its events, with the texts of messages, so that they can be [sent again](operations.md#send-events-again). Without this setting, it keeps none.",
    }),
    corsOrigins: {
      type: "array",
      items: text("an origin such as https://app.example.com", {
        pattern: "^https?://[^*]+$",
        format: "origin",
        description: "An origin, exactly as a browser sends it.",
      }),
      default: [],
      errorMessage: "a list of origins such as https://app.example.com",
      description: "The origins whose pages can call the API.",
    },
    domainName: text("a lowercase host name such as api.example.com", {
      pattern: String.raw`^(?=.{1,253}$)(?:${hostLabel}\.)+${hostLabel}$`,
      description: "A host name for the API. It needs `certificateArn`.",
    }),
    certificateArn: text("the ARN of an AWS Certificate Manager certificate", {
      pattern: String.raw`^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[\w-]+$`,
      description: "The certificate for `domainName`, in the region of the stack.",
    }),
    logRetentionDays: wholeNumber(1, 3653, {
      default: 90,
      description:
        "How many days logs are kept: a number that CloudWatch supports, such as 7, 30, 90 or 365. The CDK warns of others.",
    }),
    logErrorMessages: flag({
      default: false,
      description:
        "Whether the messages of unexpected errors are logged. They can quote what a caller sent, so set it only in stages without real data. Logs have no other level: `request failed` always has the name and the stack of the error.",
    }),
    tracing: flag({
      default: false,
      description:
        "Whether AWS X-Ray records the first call of each function in a second and one in twenty of the others, for 5 dollars a million. HTTP APIs of API Gateway do not take part.",
    }),
    authorizerCacheSeconds: wholeNumber(0, 3600, {
      default: 60,
      description:
        "How many seconds API Gateway caches a result of the authorizer. For this time, a revoked or expired key can still work, and an account can keep its previous rate limit.",
    }),
  },
  dependencies: {
    domainName: ["certificateArn"],
    certificateArn: ["domainName"],
  },
} as const;

/** What a stage can set. */
export type StageSettings = FromSchema<typeof stageSchema, { keepDefaultedPropertiesOptional: true }>;

/** All settings of a stage, including the defaults. */
export type Settings = Omit<FromSchema<typeof stageSchema>, "$schema">;

/** The settings of a stage whose file sets none. */
export const defaults = Object.fromEntries<unknown>(
  Object.entries(stageSchema.properties).flatMap(([name, setting]) =>
    "default" in setting ? [[name, setting.default]] : [],
  ),
) as Settings;
