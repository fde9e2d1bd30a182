import { expect, test } from "vitest";
import { only, synthesize } from "../../support/synthesize.ts";

const copyTo = "arn:aws:backup:eu-west-1:210987654321:backup-vault:leads-and-conversations";

const { template } = await synthesize("prod", { backup: { keepDays: 90, copyTo } });
const plain = await synthesize("prod");
const vault = only(template, "AWS::Backup::BackupVault");

test("The table is backed up every night, into a vault that is kept like the table", () => {
  expect(vault.properties.BackupVaultName).toBe("leads-and-conversations-prod");
  // But not after a deployment that fails: it would block the next one.
  expect(vault.resource).toMatchObject({
    DeletionPolicy: "RetainExceptOnCreate",
    UpdateReplacePolicy: "Retain",
  });
  const plan = only(template, "AWS::Backup::BackupPlan");
  expect(plan.properties.BackupPlan).toEqual({
    BackupPlanName: "leads-and-conversations-prod",
    BackupPlanRule: [
      {
        RuleName: "nightly",
        ScheduleExpression: "cron(0 3 * * ? *)",
        TargetBackupVault: { "Fn::GetAtt": [vault.id, "BackupVaultName"] },
        Lifecycle: { DeleteAfterDays: 90 },
        CopyActions: [{ DestinationBackupVaultArn: copyTo, Lifecycle: { DeleteAfterDays: 90 } }],
      },
    ],
  });
  const { BackupSelection } = only(template, "AWS::Backup::BackupSelection").properties;
  expect(JSON.stringify(BackupSelection.Resources)).toContain(only(template, "AWS::DynamoDB::Table").id);
  expect(BackupSelection.Resources).toHaveLength(1);
});

test("Only the other AWS account may copy backups back", async () => {
  expect(vault.properties.AccessPolicy.Statement).toEqual([
    {
      Effect: "Allow",
      Principal: {
        AWS: { "Fn::Join": ["", ["arn:", { Ref: "AWS::Partition" }, ":iam::210987654321:root"]] },
      },
      Action: "backup:CopyIntoBackupVault",
      Resource: "*",
    },
  ]);
  const own = { account: "210987654321", region: "eu-central-1", backup: { keepDays: 7, copyTo } };
  for (const settings of [own, { backup: { keepDays: 7 } }]) {
    const other = only((await synthesize("prod", settings)).template, "AWS::Backup::BackupVault");
    expect(other.properties).toEqual({ BackupVaultName: "leads-and-conversations-prod" });
  }
});

test("A stage that deletes its data deletes its vault", async () => {
  const { template: dev } = await synthesize("dev", { backup: { keepDays: 7 } });
  expect(only(dev, "AWS::Backup::BackupVault").resource.DeletionPolicy).toBe("Delete");
});

test("Its role may back up, and not restore", () => {
  const { BackupSelection, BackupPlanId } = only(template, "AWS::Backup::BackupSelection").properties;
  expect(BackupPlanId).toEqual({
    "Fn::GetAtt": [only(template, "AWS::Backup::BackupPlan").id, "BackupPlanId"],
  });
  const role =
    template.findResources("AWS::IAM::Role")[BackupSelection.IamRoleArn["Fn::GetAtt"][0]]?.Properties;
  expect(role.AssumeRolePolicyDocument.Statement).toEqual([
    { Effect: "Allow", Action: "sts:AssumeRole", Principal: { Service: "backup.amazonaws.com" } },
  ]);
  expect(role.Policies).toBeUndefined();
  expect(JSON.stringify(role.ManagedPolicyArns)).toMatch(
    /^[^,]*,\[[^[\]]*AWSBackupServiceRolePolicyForBackup"\]\]\}\]$/,
  );
});

test("Copies are kept as long as the stage says", async () => {
  const backup = { keepDays: 7, copyTo, copyKeepDays: 365 };
  const plan = only((await synthesize("prod", { backup })).template, "AWS::Backup::BackupPlan");
  expect(plan.properties.BackupPlan.BackupPlanRule).toMatchObject([
    { Lifecycle: { DeleteAfterDays: 7 }, CopyActions: [{ Lifecycle: { DeleteAfterDays: 365 } }] },
  ]);
});

test("The backup changes no other resource but the dashboard, which shows its alarm, and no stage has one by default", async () => {
  const before = structuredClone(plain.template.toJSON());
  expect(JSON.stringify(before)).not.toContain("AWS::Backup");
  expect((await synthesize("dev")).template.findResources("AWS::Backup::BackupVault")).toEqual({});
  const after = structuredClone(template.toJSON());
  const added = Object.keys(after.Resources).filter((id) => !(id in before.Resources));
  expect(added.filter((id) => !id.startsWith("Backup"))).toEqual([
    expect.stringMatching(/^MonitoringAlarmsbackupmissing/),
  ]);
  const [dashboard = ""] = Object.keys(plain.template.findResources("AWS::CloudWatch::Dashboard"));
  for (const id of [...added, dashboard]) delete after.Resources[id];
  delete before.Resources[dashboard];
  expect(after).toEqual(before);
});
