import { Command } from "commander";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { toPartialFailure } from "../common/aws-errors.ts";
import { selectTableByOptions, stageOption, withDryRun } from "../common/options.ts";
import { findVersions, moveAlias, readStack, stopDeployments, storeRelease } from "./stage-functions.ts";

interface RollbackOptions {
  readonly stage: string;
  readonly to: string;
  readonly dryRun?: boolean;
}

/** `rollback`: every function of a stage runs an older release again, without a deployment. */
export const rollbackCommand = (): Command =>
  withDryRun(new Command("rollback").description("have all functions of a stage run an older release"))
    .addOption(stageOption().makeOptionMandatory())
    .requiredOption("--to <release>", "the name of the release, such as 1.0.0+ab12cd3")
    .action(rollBack);

async function rollBack({ stage, to, dryRun }: RollbackOptions): Promise<void> {
  // Without `dryRun`, so that a checkout of any release can roll back.
  await selectTableByOptions({ stage });
  const { functions, isChanging } = await readStack(tableName);
  const { versions, dataFormat } = await findVersions(functions, to);
  const verb = dryRun ? "would run" : "runs";
  let moved = 0;
  try {
    if (!dryRun) await stopDeployments(tableName);
    for (const { name, lambda, version } of versions) {
      if (!version) {
        console.log(`${name} has no version of ${to}, and stays as it is.`);
        continue;
      }
      if (!dryRun) await moveAlias(lambda, version);
      moved++;
      console.log(`${name} ${verb} version ${version}.`);
    }
    if (!dryRun) await storeRelease(to, dataFormat);
  } catch (error) {
    throw await toPartialFailure(
      error,
      (reason) => `${moved} of ${versions.length} functions run ${to}. ${reason} Run the command again.`,
    );
  }
  console.log(`The stage ${stage} ${verb} the release ${to}.`);
  if (isChanging && !dryRun)
    throw new UserError(
      "CloudFormation is changing the stack, and may move the functions: run the command again when it is done.",
    );
}
