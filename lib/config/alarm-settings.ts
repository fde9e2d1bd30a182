import { fullFormats } from "ajv-formats/dist/formats.js";
import type { Setting } from "./setting.ts";

/** Where alarms are sent: to a topic of the stack with this address subscribed, or to a topic that there is. */
export type AlarmTarget = { readonly email: string } | { readonly topicArn: string };

const email = fullFormats.email as RegExp;

/** A FIFO topic, which CloudWatch cannot send to, would have a dot in its name. */
const topicArn = /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/;

export const alarmTarget: Setting<AlarmTarget | undefined> = {
  allowed: "an email address or the ARN of a standard SNS topic",
  parse: (text) => {
    if (topicArn.test(text)) return { topicArn: text };
    return email.test(text) ? { email: text } : undefined;
  },
};

export const webPage: Setting<string> = {
  allowed: "an https address without a fragment",
  parse: (text) => (/^https:\/\/[^\s#]+$/.test(text) && URL.canParse(text) ? text : undefined),
};
