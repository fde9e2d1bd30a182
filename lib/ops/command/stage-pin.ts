import type { STSClientConfig } from "@aws-sdk/client-sts";
import { readProjectStage } from "../../config/read-stage-file.ts";
import { errorMessage, UserError } from "../../user-error.ts";

/**
 * Checks that the credentials are of the AWS account in the file of a stage, if it has one.
 *
 * @param config how long and how often to try
 * @returns the region of the stage, as a setting of clients: without one, they take that of the environment
 * @throws UserError if they are not, or if nobody can tell, and for a mistake in the file
 */
export async function checkStage(stage: string, config: STSClientConfig): Promise<{ region?: string }> {
  const { account, region: name } = readProjectStage(stage) ?? {};
  const region = name === undefined ? {} : { region: name };
  if (account === undefined) return region;
  const current = await readCurrentAccount({ ...config, ...region });
  if (current === account) return region;
  throw new UserError(
    `The stage ${stage} belongs to the AWS account ${account}, but the credentials are of ${current}: use those of ${account}.`,
  );
}

/** The AWS account of the credentials. Everyone may ask for it, whatever their permissions. */
async function readCurrentAccount(config: STSClientConfig): Promise<string | undefined> {
  // Only a stage with an account needs the package, which takes a quarter of the start of a command.
  const { GetCallerIdentityCommand, STSClient } = await import("@aws-sdk/client-sts");
  const client = new STSClient(config);
  const identity = await client.send(new GetCallerIdentityCommand()).catch((error: unknown) => {
    throw new UserError(
      `The AWS account of the credentials is unknown (${errorMessage(error)}): check the credentials, AWS_REGION and the network.`,
    );
  });
  return identity.Account;
}
