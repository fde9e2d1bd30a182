import { Arn, ArnFormat, Duration, RemovalPolicy, Validations } from "aws-cdk-lib";
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from "aws-cdk-lib/aws-backup";
import { Schedule } from "aws-cdk-lib/aws-events";
import { AccountPrincipal, PolicyDocument, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { stageTableName } from "../../shared/stages.ts";
import type { Config } from "../config/config.ts";
import type { ServiceTable } from "./table.ts";

interface TableBackupProps {
  readonly config: Config;
  readonly backup: NonNullable<Config["backup"]>;
  readonly table: ServiceTable;
}

/** Copies of the whole table, made every night and kept in a vault, and in another one if the stage says so. */
export class TableBackup extends Construct {
  constructor(scope: Construct, id: string, { config, backup, table }: TableBackupProps) {
    super(scope, id);
    const { keepDays, copyTo, copyKeepDays = keepDays } = backup;
    // AWS Backup encrypts the copies with the key that it manages: a key of the stack would be lost with the stack.
    const vault = new BackupVault(this, "Vault", {
      backupVaultName: stageTableName(config.stage),
      // A vault that a failed deployment has just created would block the next one by its name.
      removalPolicy:
        config.removalPolicy === RemovalPolicy.DESTROY
          ? RemovalPolicy.DESTROY
          : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      ...returnPolicy(copyTo, config.account),
    });
    const nightly = new BackupPlanRule({
      ruleName: "nightly",
      scheduleExpression: Schedule.cron({ hour: "3", minute: "0" }),
      deleteAfter: Duration.days(keepDays),
      copyActions: copyTo
        ? [
            {
              destinationBackupVault: BackupVault.fromBackupVaultArn(this, "CopyVault", copyTo),
              deleteAfter: Duration.days(copyKeepDays),
            },
          ]
        : [],
    });
    const plan = new BackupPlan(this, "Plan", {
      backupPlanName: stageTableName(config.stage),
      backupVault: vault,
      backupPlanRules: [nightly],
    });
    const selection = plan.addSelection("Table", { resources: [BackupResource.fromDynamoDbTable(table)] });
    Validations.of(selection.node.findChild("Role").node.findChild("Resource")).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]",
      reason: "AWS Backup documents this policy, and extends it when its backups need another permission.",
    });
  }
}

/** Lets the other AWS account copy backups back into the vault. A restore needs them there. */
function returnPolicy(copyTo: string | undefined, account: string | undefined) {
  const other = copyTo && Arn.split(copyTo, ArnFormat.COLON_RESOURCE_NAME).account;
  if (!other || other === account) return {};
  const copyBack = new PolicyStatement({
    principals: [new AccountPrincipal(other)],
    actions: ["backup:CopyIntoBackupVault"],
    resources: ["*"],
  });
  return { accessPolicy: new PolicyDocument({ statements: [copyBack] }) };
}
