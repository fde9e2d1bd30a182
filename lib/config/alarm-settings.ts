import { fullFormats } from "ajv-formats/dist/formats.js";
import type { Setting } from "./setting-parsers.ts";

/** Where alarms are sent: to an email address, by a topic of the stack, or to an existing topic. */
export type AlarmTarget = { readonly email: string } | { readonly topicArn: string };

const email = fullFormats.email as RegExp;

/** Without dots in the name: those are FIFO topics, to which CloudWatch cannot publish. */
const topicArn = /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/;

export const alarmTarget: Setting<AlarmTarget | undefined> = {
  allowed: "an email address or the ARN of a standard SNS topic",
  parse: (text) => {
    if (topicArn.test(text)) return { topicArn: text };
    return email.test(text) ? { email: text } : undefined;
  },
};

export const webPage: Setting<string> = {
  allowed: "an https URL without a fragment",
  parse: (text) => (/^https:\/\/[^\s#]+$/.test(text) && URL.canParse(text) ? text : undefined),
};
