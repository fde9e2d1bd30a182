import type { Setting } from "./setting-parsers.ts";

/** Whether the text is an origin as browsers send it. A path, a capital letter or a default port would never match. */
function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

export const originList: Setting<readonly string[]> = {
  allowed: "origins such as https://app.example.com, separated by commas",
  parse: (text) => {
    const origins = text.split(",");
    return origins.every(isOrigin) ? origins : undefined;
  },
};

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

const host = new RegExp(`^(?=.{1,253}$)(?:${label}\\.)+${label}$`);

export const hostName: Setting<string | undefined> = {
  allowed: "a lowercase host name such as api.example.com",
  parse: (text) => (host.test(text) ? text : undefined),
};

const certificate = /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/;

export const certificateArn: Setting<string | undefined> = {
  allowed: "the ARN of an AWS Certificate Manager certificate",
  parse: (text) => (certificate.test(text) ? text : undefined),
};
