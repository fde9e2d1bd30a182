import { expect, test } from "vitest";
import { createDataDirectory, ops } from "../../../support/ops.ts";

const dataDirectory = await createDataDirectory();
const noConfiguration = { HOME: dataDirectory, AWS_EC2_METADATA_DISABLED: "true" };

test.each([
  [
    "no credentials",
    { ...noConfiguration, AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" },
    /^No AWS credentials were found \(.+\): set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\.\n$/,
  ],
  [
    "no region",
    { ...noConfiguration, AWS_REGION: undefined },
    /^No valid AWS region is configured: set AWS_REGION, or .+\.\n$/,
  ],
  [
    "an empty region",
    { ...noConfiguration, AWS_REGION: "" },
    /^No valid AWS region is configured: set AWS_REGION, or .+\.\n$/,
  ],
  [
    "an endpoint without a server",
    { AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:9" },
    /^DynamoDB cannot be reached \(connect ECONNREFUSED 127\.0\.0\.1:9\): check the network, .+\.\n$/,
  ],
  [
    "an unknown host",
    { AWS_ENDPOINT_URL_DYNAMODB: "http://nowhere.invalid" },
    /^DynamoDB cannot be reached \(getaddrinfo E\w+ nowhere\.invalid\): check the network, .+\.\n$/,
  ],
])(
  "%s is reported in one sentence",
  async (_, env, sentence) => {
    const args = ["keys", "list", "--account", "a", "--table", "no-such-table"];
    const { code, stdout, stderr } = await ops(args, { dataDirectory, env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(sentence);
  },
  60_000,
);
