# Shell functions of the runbook, for bash and zsh: stack=leads-and-conversations-prod; . docs/operations/shell.sh

# Comments in the commands of the pages: zsh reads none by default.
[ -z "${ZSH_VERSION:-}" ] || setopt interactivecomments

access_log=/aws/vendedlogs/http-apis/$stack

# Prints an output of the stack: output ApiUrl
output() {
  aws cloudformation describe-stacks --stack-name "$stack" \
    --query "Stacks[0].Outputs[?OutputKey=='$1'].OutputValue" --output text
}

# Queries the logs of the functions, or the log group of the second argument, of the last hour or the last $hours.
query() {
  id=$(aws logs start-query --log-group-names "${2:-$(output FunctionLogGroups)}" \
    --start-time $(($(date +%s) - 3600 * ${hours:-1})) --end-time "$(date +%s)" \
    --query-string "$1" --query queryId --output text)
  while aws logs get-query-results --query-id "$id" --query status --output text | grep -Eq 'Scheduled|Running'; do sleep 2; done
  aws logs get-query-results --query-id "$id" --output table
}

# Replays what the archive of the bus has since a time, to the rule of a connector: replay whatsapp 2026-11-21T00:00:00Z
replay() {
  rule=$(aws events describe-rule --event-bus-name "$stack" --name "$1" --query Arn --output text)
  bus=$(aws events describe-event-bus --name "$stack" --query Arn --output text)
  # It ends now, so that the connector also receives lead.erased of leads that were erased since.
  aws events start-replay --replay-name "$1-$(date +%s)" --event-start-time "$2" --event-end-time "$(date -u +%FT%TZ)" \
    --event-source-arn "$(aws events describe-archive --archive-name "$stack" --query ArchiveArn --output text)" \
    --destination "{ \"Arn\": \"$bus\", \"FilterArns\": [\"$rule\"] }"
}

# Stops the gradual deployments that run, and returns their requests to the versions before.
stop_deployments() {
  for group in $(aws deploy list-deployment-groups --application-name "$stack" --query deploymentGroups --output text); do
    for id in $(aws deploy list-deployments --application-name "$stack" --deployment-group-name "$group" \
      --include-only-statuses Created Queued InProgress Baking Ready --query deployments --output text); do
      aws deploy stop-deployment --deployment-id "$id" --auto-rollback-enabled
    done
  done
}

# Prints each function whose alias calls another version than that of the stack.
compare_versions() {
  for version in $(aws cloudformation list-stack-resources --stack-name "$stack" --output text \
    --query "StackResourceSummaries[?ResourceType=='AWS::Lambda::Version'].PhysicalResourceId"); do
    live=$(aws lambda get-alias --function-name "${version%:*}" --name live --query FunctionVersion --output text)
    [ "$live" = "${version##*:}" ] || echo "${version%:*} runs version $live, not ${version##*:}"
  done
}
