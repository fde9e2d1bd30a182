# Commands for backups in another AWS account, to run one by one: docs/deploying.md says when. In these examples, the stage
# is in 123456789012 and eu-central-1, and the copies are in 210987654321.

# Once, in the management account of the organization; not needed for another region of the same account.
aws backup update-global-settings --global-settings isCrossAccountBackupEnabled=true

# Once, in the other account and region. The default vault accepts no copies of another account.
aws backup create-backup-vault --backup-vault-name leads-and-conversations
aws backup put-backup-vault-access-policy --backup-vault-name leads-and-conversations --policy '{
  "Version": "2012-10-17",
  "Statement": [{ "Effect": "Allow", "Principal": { "AWS": "arn:aws:iam::123456789012:root" },
    "Action": "backup:CopyIntoBackupVault", "Resource": "*" }]
}'

# Once, in the account and region of the stage: the features that copies need.
# https://docs.aws.amazon.com/aws-backup/latest/devguide/advanced-ddb-backup.html
aws backup update-region-settings --resource-type-opt-in-preference DynamoDB=true \
  --resource-type-management-preference DynamoDB=true

# Once a week: the first two must show nothing, and the last two the last nights.
aws backup list-backup-jobs --by-state FAILED
aws backup list-copy-jobs --by-state FAILED
aws backup list-backup-jobs --by-state COMPLETED --by-backup-vault-name leads-and-conversations-prod
aws backup list-copy-jobs --by-state COMPLETED

# Once in each account, before a restore: a role that may restore, which no function may.
aws iam create-role --role-name restore-backups --assume-role-policy-document '{ "Version": "2012-10-17", "Statement": [
  { "Effect": "Allow", "Principal": { "Service": "backup.amazonaws.com" }, "Action": "sts:AssumeRole" }] }'
for policy in AWSBackupServiceRolePolicyForBackup AWSBackupServiceRolePolicyForRestores; do
  aws iam attach-role-policy --role-name restore-backups --policy-arn arn:aws:iam::aws:policy/service-role/$policy
done

# To copy a backup back, in the other account and region. The policy of the vault of the stage must allow that account
# backup:CopyIntoBackupVault. Without --lifecycle, the copy would be kept for ever.
aws backup list-recovery-points-by-backup-vault --backup-vault-name leads-and-conversations \
  --query 'RecoveryPoints[].[CreationDate,RecoveryPointArn]' --output text
aws backup start-copy-job --source-backup-vault-name leads-and-conversations --recovery-point-arn "$ARN" \
  --destination-backup-vault-arn arn:aws:backup:eu-central-1:123456789012:backup-vault:leads-and-conversations-prod \
  --lifecycle DeleteAfterDays=7 --iam-role-arn arn:aws:iam::210987654321:role/restore-backups
aws backup describe-copy-job --copy-job-id "$ID"

# To restore a backup into a new table, in the account and region of the stage.
aws backup list-recovery-points-by-backup-vault --backup-vault-name leads-and-conversations-prod \
  --query 'RecoveryPoints[].[CreationDate,RecoveryPointArn]' --output text
aws backup start-restore-job --recovery-point-arn "$ARN" --resource-type DynamoDB \
  --metadata targetTableName=restored,encryptionType=Default \
  --iam-role-arn arn:aws:iam::123456789012:role/restore-backups
aws backup describe-restore-job --restore-job-id "$ID"
