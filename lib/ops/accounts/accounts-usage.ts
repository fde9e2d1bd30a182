import { setTimeout } from "node:timers/promises";
import type { ResultField } from "@aws-sdk/client-cloudwatch-logs";
import type { Command } from "commander";
import type { Wait } from "../../../shared/dynamodb/pace.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { request } from "../../../shared/logging/log-events.ts";
import { routes } from "../../../shared/routes.ts";
import { UserError } from "../../errors.ts";
import { formatColumns } from "../common/columns.ts";
import { parseDuration } from "../common/duration.ts";
import { checkAccount } from "../common/known-account.ts";
import {
  accountOption,
  allAccountsCommand,
  operatorConfig,
  selectTableByOptions,
  type TableOptions,
} from "../common/options.ts";

/** The options of `accounts usage`. `since` is in milliseconds before now. */
type UsageOptions = TableOptions & { readonly account?: string; readonly since: number };

/** `accounts usage`: what each account has used, by the log lines of its requests. */
export const usageCommand = (wait: Wait = setTimeout): Command =>
  allAccountsCommand("usage", "show the requests of each account and their units, from the logs")
    .addOption(accountOption())
    .requiredOption("--since <duration>", "how far to go back: 24h, 7d", parseDuration)
    .action((options: UsageOptions) => showUsage(options, wait));

async function showUsage(options: UsageOptions, wait: Wait): Promise<void> {
  const { account, local, json } = options;
  if (local)
    throw new UserError("The local run keeps no logs to search: name a deployed stage with --stage.");
  await selectTableByOptions(options);
  if (account !== undefined) await checkAccount({ ...options, account });
  const rows = (await searchLogs(options, wait)).map((fields) => {
    const text = (name: string) => fields.find(({ field }) => field === name)?.value;
    const number = (name: string) => Number(text(name) ?? 0);
    const [requests, reads, writes] = ["requests", "reads", "writes"].map(number);
    return { account: text("message.account"), requests, reads, writes };
  });
  if (json) console.log(JSON.stringify(rows));
  else console.log(rows.length > 0 ? formatColumns(rows) : "No request was logged in this time.");
}

async function searchLogs({ account, since }: UsageOptions, wait: Wait): Promise<readonly ResultField[][]> {
  // No other command needs the package.
  const aws = await import("@aws-sdk/client-cloudwatch-logs");
  const client = new aws.CloudWatchLogsClient({ ...operatorConfig, region: table.config.region });
  // CloudFormation makes a log group's name of those of the stack and the function.
  const groups = Object.values(routes).map(({ name }) => `'${tableName}-${name.replaceAll("-", "")}Logs'`);
  const queryString = `SOURCE logGroups(namePrefix: [${groups.join(", ")}])
    | filter message.event = "${request}" ${account ? `and message.account = "${account}"` : ""}
    | stats count(*) as requests, sum(message.reads) as reads, sum(message.writes) as writes by message.account
    | sort requests desc | limit 10000`;
  const [endTime, startTime] = [0, since].map((age) => Math.floor((Date.now() - age) / 1000));
  const { queryId } = await client.send(new aws.StartQueryCommand({ queryString, startTime, endTime }));
  for (;;) {
    const { status = "", results = [] } = await client.send(new aws.GetQueryResultsCommand({ queryId }));
    if (status === "Complete") return results;
    if (!["Scheduled", "Running"].includes(status))
      throw new UserError(`CloudWatch ended the search (${status}): ask for a shorter time.`);
    await wait(1000);
  }
}
