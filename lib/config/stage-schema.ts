import type { FromSchema } from "json-schema-to-ts";
import { functionNames } from "../bundling/bundle.ts";
import { choice, flag, text, wholeNumber } from "./setting-schemas.ts";

/** The settings that belong to one stage alone: a stage that is `like` another one does not get them. */
export const ownSettings = [
  ...["domainName", "certificateArn", "disableExecuteApiEndpoint", "alarmsTo", "monthlyBudget"],
  ...["canary", "eventAccounts", "reservedConcurrency", "backup", "onPurpose"],
] as const;

/** What a stage that keeps its data sets, or answers with `onPurpose`. */
const questions = ["account", "region", "alarmsTo", "monthlyBudget", "backup", "throttleBurst"] as const;

/** A setting that has to be chosen: `questions`. */
export type Question = (typeof questions)[number];

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

const accountId = { pattern: String.raw`^\d{12}$` };

/** Without dots in the name: those are FIFO topics, to which CloudWatch cannot publish. */
const topicArn = String.raw`^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$`;

const alarmTarget = text("an email address or the ARN of a standard SNS topic", {
  anyOf: [{ format: "email" }, { pattern: topicArn }],
  description: "An email address, or the ARN of an SNS topic.",
});

/**
 * The JSON Schema of `stages/<name>.json`: the one list of settings, with their meaning, their defaults and what is
 * allowed. `npm run stages` writes it to `stages/stage.schema.json` and to the table in docs/configuration.md.
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
    like: text("the name of another stage", {
      pattern: "^[a-z][a-z0-9-]{0,20}$",
      description: `Another stage whose settings apply where this file has none. These settings are not copied, because they belong to one stage: ${ownSettings.join(", ")}.`,
    }),
    account: text("an AWS account id of 12 digits in quotes", {
      ...accountId,
      description:
        "The AWS account of the stage. With credentials of another account, nothing is synthesized or deployed, and operator commands with `--stage` stop, if the stage has a file.",
    }),
    region: text("an AWS region such as eu-central-1", {
      pattern: String.raw`^[a-z]+(?:-[a-z]+)+-\d+$`,
      description:
        "The AWS region of the stage. It is deployed there, whatever region the environment is configured for. Operator commands with `--stage` go there, too, if the stage has a file.",
    }),
    trustedAccounts: {
      type: "array",
      items: text("an AWS account id of 12 digits in quotes", {
        ...accountId,
        description: "An AWS account id.",
      }),
      default: [],
      errorMessage: "a list of AWS account ids",
      description:
        "Other AWS accounts whose credentials may deploy the stage, such as that of a pipeline. They need `account`, and `cdk bootstrap --trust` must allow them, too.",
    },
    tags: {
      type: "object",
      maxProperties: 50,
      propertyNames: { pattern: String.raw`^(?!aws:)[\w .:/=+@-]{1,128}$` },
      additionalProperties: text("a text of 1 to 256 letters, digits, spaces or . : / = + @ _ -", {
        pattern: String.raw`^[\w .:/=+@-]{1,256}$`,
        description: "The value of the tag.",
      }),
      default: {},
      errorMessage:
        "an object with at most 50 tags, whose names have 1 to 128 letters, digits, spaces or . : / = + @ _ - and do not begin with aws:",
      description: "Tags of the stack. CloudFormation puts them on every resource that can have tags.",
    },
    removalPolicy: choice(["destroy", "retain"], {
      default: "retain",
      description: "Whether the table and the logs are deleted or kept when the stack is deleted.",
    }),
    deletionProtection: flag({
      default: true,
      description: "Whether deleting the table and the stack is refused.",
    }),
    pointInTimeRecovery: flag({
      default: true,
      description:
        "Whether the table can be restored to any second of the last 35 days. `false` needs `removalPolicy` `destroy`: only data that may be lost need no recovery.",
    }),
    throttleRate: wholeNumber(1, 100_000, {
      default: 5000,
      description: "Requests per second of all accounts together.",
    }),
    throttleBurst: wholeNumber(1, 100_000, {
      default: 2500,
      description:
        "Requests of all accounts together that can arrive at once. Lambda needs an environment for each, of 1,000 in most AWS accounts and 10 in a new one.",
    }),
    rateLimitRequests: wholeNumber(0, 100_000_000, {
      default: 6000,
      description:
        "Requests of each account per window, unless `npm run ops -- accounts set-limit` gives it a limit of its own. 0 means no limit, for no account.",
    }),
    rateLimitSeconds: wholeNumber(1, 3600, {
      default: 60,
      description: "The length of a window of the rate limit, in seconds.",
    }),
    deployment: choice(["all-at-once", "canary"], {
      default: "all-at-once",
      description:
        "How requests reach new code: all at once, or with `canary` one in ten for half an hour and then all. An alarm in that time returns them to the old code.",
    }),
    canary: flag({
      default: false,
      description:
        "Whether a function uses the API from outside every five minutes. It needs a key, which an operator stores.",
    }),
    alarmsTo: {
      anyOf: [
        alarmTarget,
        {
          type: "object",
          additionalProperties: false,
          required: ["wake", "look"],
          properties: { wake: alarmTarget, look: alarmTarget },
        },
      ],
      errorMessage:
        "an email address, the ARN of a standard SNS topic, or an object with one of them for wake and look each",
      description:
        'Where alarms are sent: an email address, or the ARN of an SNS topic. `{ "wake": …, "look": … }` sends what [wakes somebody](operations.md#alarms) and what can wait to different ones.',
    },
    monthlyBudget: wholeNumber(1, 999_999_999, {
      description:
        "A sum in US dollars. `alarmsTo` is told when the AWS account has cost 80 % or 100 % of it in a month, or AWS expects it to cost more.",
    }),
    runbookUrl: text("an https URL without a fragment", {
      pattern: String.raw`^https://[^\s#]+$`,
      format: "uri",
      description: "The https address where you publish docs/operations.md. Alarms link to it.",
    }),
    errorsUrl: text("an https URL without a fragment", {
      pattern: String.raw`^https://[^\s#]+$`,
      format: "uri",
      description:
        "The https address where you publish docs/errors.md. The `type` of each problem is then this address, `#` and the code.",
    }),
    eventAccounts: {
      type: "array",
      items: text("an AWS account id of 12 digits in quotes", {
        ...accountId,
        description: "An AWS account id.",
      }),
      // A bus takes a policy of 10 KB.
      maxItems: 50,
      default: [],
      errorMessage: "a list of at most 50 AWS account ids",
      description:
        "Other AWS accounts that may make rules on the event bus, and so read all events: their rules send to event buses of their own.",
    },
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
      pattern: String.raw`^(?=.{1,253}$)(?:${label}\.)+${label}$`,
      description: "A host name for the API. It needs `certificateArn`.",
    }),
    certificateArn: text("the ARN of an AWS Certificate Manager certificate", {
      pattern: String.raw`^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[\w-]+$`,
      description: "The certificate for `domainName`, in the region of the stack.",
    }),
    disableExecuteApiEndpoint: flag({
      default: false,
      description:
        "Whether API Gateway's own address of the API is switched off, so that only `domainName` works. Clients that still use the other address then fail.",
    }),
    logRetentionDays: choice(
      [
        ...[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096],
        ...[1827, 2192, 2557, 2922, 3288, 3653],
      ] as const,
      { default: 90, description: "How many days logs are kept." },
      "a number of days that CloudWatch supports, such as 7, 30, 90 or 365",
    ),
    authorizerCacheSeconds: wholeNumber(0, 3600, {
      default: 60,
      description:
        "How many seconds API Gateway caches a result of the authorizer, and so how long a revoked or expired key can still work, and an account can keep its previous rate limit.",
    }),
    reservedConcurrency: {
      type: "object",
      propertyNames: { enum: functionNames },
      additionalProperties: wholeNumber(1, 10_000, {
        description: "Execution environments of the function.",
      }),
      default: {},
      errorMessage: `an object with names of functions (${functionNames.join(", ")})`,
      description:
        'How many execution environments only the named function can use, which is also the most that it can use, for example `{ "authorize": 100 }`. Each serves at most ten calls a second. Lambda rejects what leaves fewer than 100 to all other functions of the AWS account.',
    },
    maxThroughput: {
      type: "object",
      additionalProperties: false,
      required: ["readUnitsPerSecond", "writeUnitsPerSecond"],
      properties: {
        readUnitsPerSecond: wholeNumber(100, 10_000_000, { description: "Read units per second." }),
        writeUnitsPerSecond: wholeNumber(100, 10_000_000, { description: "Write units per second." }),
      },
      errorMessage: "an object with readUnitsPerSecond and writeUnitsPerSecond",
      description:
        "The most units that the table and each of its four indexes serve in a second. Above it, all callers get 503 `busy`, whichever account used the units. Without it, the quota of the AWS account is the limit.",
    },
    backup: {
      type: "object",
      additionalProperties: false,
      required: ["keepDays"],
      properties: {
        keepDays: wholeNumber(1, 36_500, { description: "For how many days each backup is kept." }),
        copyTo: text("the ARN of a backup vault", {
          pattern: String.raw`^arn:aws[a-z-]*:backup:[a-z0-9-]+:\d{12}:backup-vault:[\w-]{2,50}$`,
          description: "A vault in another AWS account or region, to which each backup is copied.",
        }),
        copyKeepDays: wholeNumber(1, 36_500, {
          description: "For how many days each copy is kept, by default as long as the backup.",
        }),
      },
      dependencies: { copyKeepDays: ["copyTo"] },
      errorMessage: "an object with keepDays, and with copyTo and copyKeepDays if it has copies",
      description:
        "A backup of the whole table every night, which is kept for `keepDays`, also longer than the 35 days of point-in-time recovery. `copyTo` is the ARN of a backup vault in another AWS account or region, to which each one is copied, and `copyKeepDays` how long copies are kept. No alarm watches copies.",
    },
    onPurpose: {
      type: "array",
      items: choice(questions, { description: "A setting." }),
      default: [],
      errorMessage: `a list of settings (${questions.join(", ")})`,
      description:
        "What a stage that keeps its data leaves out on purpose, or a `throttleBurst` above 1,000. Without it, every synthesis and deployment warns.",
    },
  },
  dependencies: {
    domainName: ["certificateArn"],
    certificateArn: ["domainName"],
    disableExecuteApiEndpoint: ["domainName"],
    monthlyBudget: ["alarmsTo"],
  },
} as const;

/** What a stage's file can have. */
export type StageFile = FromSchema<typeof stageSchema, { keepDefaultedPropertiesOptional: true }>;

/** What a stage can set, but not from a file. */
export type StageSettings = Omit<StageFile, "$schema" | "like">;

type Properties = (typeof stageSchema)["properties"];

type SettingName = Exclude<keyof Properties, "$schema" | "like">;

/** The settings of a stage, with the defaults of those that it does not set. */
export type Settings = Omit<FromSchema<typeof stageSchema>, "$schema" | "like">;

type Defaults = {
  [Name in SettingName as Properties[Name] extends { default: unknown } ? Name : never]: Settings[Name];
};

/** The settings of a stage whose file sets none. */
export const defaults = Object.fromEntries(
  Object.entries(stageSchema.properties).flatMap(([name, setting]) =>
    "default" in setting ? [[name, setting.default]] : [],
  ),
) as Defaults;
