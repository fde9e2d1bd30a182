import { CredentialsProviderError } from "@smithy/core/config";

/**
 * The credentials that Lambda gives a function, in place of the SDK's search in files, processes and services. The SDK
 * asks for them before each request, so that they can be replaced while the environment lives.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
export const defaultProvider = () => async () => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    throw new CredentialsProviderError("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set.");
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
};
