# Commands that make the pipe of a stage anew, so that it sends the events of the last 24 hours again: docs/operations.md says
# when. They need pipes:DescribePipe, DeletePipe, CreatePipe, UpdatePipe and TagResource, and iam:PassRole for the pipe's role.
pipe=leads-and-conversations-prod
aws pipes describe-pipe --name $pipe > pipe.json
aws pipes delete-pipe --name $pipe
until ! aws pipes describe-pipe --name $pipe > /dev/null 2>&1; do sleep 5; done

# The age of -1 keeps what is older than twelve hours.
jq 'del(.Arn, .CurrentState, .StateReason, .CreationTime, .LastModifiedTime) | .DesiredState = "RUNNING"
  | .Tags |= with_entries(select(.key | startswith("aws:") | not))
  | .SourceParameters.DynamoDBStreamParameters.MaximumRecordAgeInSeconds = -1' pipe.json > new-pipe.json
aws pipes create-pipe --cli-input-json file://new-pipe.json

# When the metric EventCount is as before: give the pipe its limit back.
jq '{ Name, RoleArn, SourceParameters } | del(.SourceParameters.DynamoDBStreamParameters.StartingPosition)' pipe.json > limit.json
aws pipes update-pipe --cli-input-json file://limit.json
