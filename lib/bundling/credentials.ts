import { CredentialsProviderError } from "@smithy/core/config";

/**
 * The credentials of a function, from its variables. Replaces the SDK's search in variables, files, processes and services.
 *
 * Safe: Lambda gives a function its credentials in these variables, and without them the error names them. The SDK calls
 * this before each request, so the variables may change while the environment lives.
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
