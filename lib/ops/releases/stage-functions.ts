import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { recordRelease } from "../../../shared/dynamodb/stored-release.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { parseVersion } from "../../release.ts";
import { readStoredRelease } from "../common/data-format.ts";
import { operatorConfig } from "../common/options.ts";

/** Functions by their names in the project, with those in Lambda. */
type Functions = Readonly<Record<string, string>>;

/** In the region of the stage. */
const settings = () => ({ ...operatorConfig, region: table.config.region });

/** Reads the functions of a stack from its outputs, and whether CloudFormation is changing it. */
export async function readStack(StackName: string) {
  const { CloudFormation } = await import("@aws-sdk/client-cloudformation");
  const { Stacks: [stack] = [] } = await new CloudFormation(settings()).describeStacks({ StackName });
  const output = stack?.Outputs?.find(({ OutputKey }) => OutputKey === "FunctionNames");
  const functions: Functions = JSON.parse(output?.OutputValue ?? "{}");
  return { functions, isChanging: stack?.StackStatus?.endsWith("_IN_PROGRESS") ?? false };
}

/**
 * Finds the newest version of each function that is of a release. A function that was added since has none.
 *
 * @throws UserError if no function has one, or the release has another data format than the table
 */
export async function findVersions(functions: Functions, release: string) {
  const known = new Set<string>();
  const found = Object.entries(functions).map(async ([name, lambda]) => {
    const releases = await listReleases(lambda);
    for (const each of releases.keys()) known.add(each);
    return { name, lambda, ...releases.get(release) };
  });
  const versions = await Promise.all(found);
  if (!known.has(release))
    throw new UserError(
      `No function has a version of ${release}. There are: ${[...known].join(", ") || "none"}.`,
    );
  const { dataFormat } = await readStoredRelease();
  const other = versions.find((version) => version.version && version.dataFormat !== dataFormat);
  if (other)
    throw new UserError(
      `The release ${release} has the data format ${other.dataFormat}, but the table has ${dataFormat}: correct the new code instead.`,
    );
  return { versions, dataFormat };
}

/** The newest version of each release of a function. Lambda lists the oldest first. */
async function listReleases(FunctionName: string) {
  const { LambdaClient, paginateListVersionsByFunction } = await import("@aws-sdk/client-lambda");
  const newest = new Map<string, { readonly version: string | undefined; readonly dataFormat: number }>();
  const pages = paginateListVersionsByFunction({ client: new LambdaClient(settings()) }, { FunctionName });
  for await (const { Versions = [] } of pages)
    for (const { Version: version, Description } of Versions) {
      const { release, dataFormat } = parseVersion(Description) ?? {};
      if (release !== undefined && dataFormat !== undefined) newest.set(release, { version, dataFormat });
    }
  return newest;
}

/** Ends the gradual deployments that run; a stage without them has no application. */
export async function stopDeployments(applicationName: string): Promise<void> {
  const { ApplicationDoesNotExistException, CodeDeploy, DeploymentAlreadyCompletedException } = await import(
    "@aws-sdk/client-codedeploy"
  );
  const client = new CodeDeploy(settings());
  const groups = await client.listDeploymentGroups({ applicationName }).catch((error: unknown) => {
    if (error instanceof ApplicationDoesNotExistException) return undefined;
    throw error;
  });
  for (const deploymentGroupName of groups?.deploymentGroups ?? []) {
    const group = { applicationName, deploymentGroupName };
    const { deployments = [] } = await client.listDeployments({
      ...group,
      includeOnlyStatuses: ["Created", "Queued", "InProgress", "Ready"],
    });
    for (const deploymentId of deployments)
      await client.stopDeployment({ deploymentId, autoRollbackEnabled: true }).catch((error: unknown) => {
        // An alarm can come first.
        if (!(error instanceof DeploymentAlreadyCompletedException)) throw error;
      });
  }
}

/** Has all that calls a function run one version, and no share of another. */
export async function moveAlias(FunctionName: string, FunctionVersion: string | undefined): Promise<void> {
  const { Lambda } = await import("@aws-sdk/client-lambda");
  const RoutingConfig = { AdditionalVersionWeights: {} };
  await new Lambda(settings()).updateAlias({ FunctionName, Name: "live", FunctionVersion, RoutingConfig });
}

/** Writes into the table which release it is of. */
export async function storeRelease(release: string, dataFormat: number): Promise<void> {
  await table.send(new UpdateItemCommand(recordRelease(tableName, release, dataFormat)));
}
