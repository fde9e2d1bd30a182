import type { STSClientConfig } from "@aws-sdk/client-sts";
import { readProjectStage } from "../../config/stage-settings.ts";
import { errorMessage, UserError } from "../../errors.ts";

/**
 * The region of a stage, as a setting of clients: without one, they take that of the environment.
 *
 * @throws UserError for a mistake in the file of the stage
 */
export function stageRegion(stage: string): { readonly region?: string } {
  const region = readProjectStage(stage)?.region;
  return region === undefined ? {} : { region };
}

/**
 * Checks that the credentials are of the AWS account in the file of a stage, if it has one.
 *
 * @param config how long and how often to try
 * @throws UserError if they are not, or if nobody can tell
 */
export async function checkCredentials(stage: string, config: STSClientConfig): Promise<void> {
  const { account, region } = readProjectStage(stage) ?? {};
  if (account === undefined) return;
  const current = await readCurrentAccount({ ...config, ...(region && { region }) });
  if (current === account) return;
  throw new UserError(
    `The stage ${stage} belongs to the AWS account ${account}, but the credentials are of ${current}: use those of ${account}.`,
  );
}

/** The AWS account of the credentials. Everyone may ask for it, whatever their permissions. */
async function readCurrentAccount(config: STSClientConfig): Promise<string | undefined> {
  // Only a stage with an account needs the package.
  const { GetCallerIdentityCommand, STSClient } = await import("@aws-sdk/client-sts");
  const client = new STSClient(config);
  const identity = await client.send(new GetCallerIdentityCommand()).catch((error: unknown) => {
    throw new UserError(
      `The AWS account of the credentials is unknown (${errorMessage(error)}): check the credentials, AWS_REGION and the network.`,
    );
  });
  return identity.Account;
}
