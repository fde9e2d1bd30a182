import {
  DescribeTableCommand,
  type DynamoDBClientConfig,
  ListTagsOfResourceCommand,
} from "@aws-sdk/client-dynamodb";
import { readFrozenAt } from "../../../shared/domain/accounts.ts";
import { dataFormat, dataFormatTag } from "../../../shared/dynamodb/data-format.ts";
import { type AnyPace, Pace, unpaced } from "../../../shared/dynamodb/pace.ts";
import type { OtherTable } from "../../../shared/dynamodb/read-pages.ts";
import { selectTable, table } from "../../../shared/dynamodb/table-client.ts";
import { stageResourceName } from "../../../shared/stages.ts";
import { UserError } from "../../user-error.ts";
import { compareClocks } from "../table/table-clock.ts";
import { opsCommand, type TableOptions } from "./command.ts";
import { localConfig, readLocalRun } from "./local-run-file.ts";

/** A command can wait longer than a route. Times are in milliseconds. */
export const operatorConfig = {
  maxAttempts: 10,
  retryMode: "standard",
  requestHandler: { connectionTimeout: 5000, requestTimeout: 10_000, throwOnRequestTimeout: true },
} satisfies DynamoDBClientConfig;

/**
 * Selects the table that the options name, for all later calls of this process.
 *
 * @returns the pace of these calls
 * @throws UserError without a table, when `npm start` is not running, with credentials of another AWS account than that
 *   of the stage, or if the command would write another data format than the table has, or to a frozen account
 */
export async function selectTableByOptions(options: TableOptions & { readonly account?: string }) {
  const { name, client } = await findTable(options);
  const { account, writes, units, dryRun } = options;
  const isPaced = units !== undefined;
  // A pace makes all further attempts, so that it notices every throttle.
  selectTable(name, { ...operatorConfig, ...client, ...(isPaced && { maxAttempts: 1 }) });
  if (isPaced) compareClocks(table);
  // Without a pace, nothing has a deadline either.
  const pace = isPaced ? new ShownPace(units) : (unpaced as Pace);
  // The file of a local run contains its format, which is already checked.
  if (writes && !options.local) await checkDataFormat({ client: table, name }, pace);
  if (writes !== true || dryRun || account === undefined) return pace;
  const frozenAt = await pace.retry(() => readFrozenAt(account));
  if (!frozenAt) return pace;
  throw new UserError(
    `The account ${account} has been frozen since ${frozenAt}, because it is being moved or erased: nothing was written. To continue an erasure, run \`accounts erase\`. Otherwise, to let the account write again, run ${opsCommand(options, `accounts unfreeze --account ${account}`)}.`,
  );
}

/** The name of the table, and the settings with which a client reaches it. */
async function findTable({ local, stage, table: name }: TableOptions) {
  if (local) {
    const { tableName, dynamodbEndpoint: endpoint } = await readLocalRun();
    return { name: tableName, client: { ...localConfig, endpoint } };
  }
  if (stage) return { name: stageResourceName(stage), client: await checkStage(stage) };
  if (name) return { name };
  throw new UserError("Name the table: --local, --stage NAME or --table NAME.");
}

/**
 * Checks that the credentials are of the AWS account in the file of a stage, if it has one.
 *
 * @returns the region of the stage, as a setting of clients: without one, they take that of the environment
 * @throws UserError if they are not, and for a mistake in the file
 */
export async function checkStage(stage: string): Promise<{ region?: string }> {
  // Only a stage has a file. What reads and checks it takes 0.1 s to load.
  const { readProjectStage } = await import("../../config/read-stage-file.ts");
  const { account, region: name } = readProjectStage(stage) ?? {};
  const region = name === undefined ? {} : { region: name };
  if (account === undefined) return region;
  // Only a stage with an account needs the package, which takes a quarter of the start of a command.
  const { GetCallerIdentityCommand, STSClient } = await import("@aws-sdk/client-sts");
  const client = new STSClient({ ...operatorConfig, ...region });
  // Everyone may ask for it, whatever their permissions.
  const { Account } = await client.send(new GetCallerIdentityCommand());
  if (Account === account) return region;
  throw new UserError(
    `The stage ${stage} belongs to the AWS account ${account}, but the credentials are of ${Account}: use those of ${account}.`,
  );
}

/**
 * Checks that this program writes what the deployed release of a table reads.
 *
 * @param untagged the format of a table without the tag, such as one that was restored; by default, it is refused
 * @throws UserError for another data format
 */
export async function checkDataFormat(
  { client, name }: OtherTable,
  pace: AnyPace,
  untagged?: number,
): Promise<void> {
  const tags = await pace.retry(async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn }));
    return Tags;
  });
  const stored = tags.find(({ Key }) => Key === dataFormatTag)?.Value;
  if (Number(stored ?? untagged) === dataFormat) return;
  const found = stored === undefined ? "no data format" : `the data format ${stored}`;
  throw new UserError(
    `The table ${name} has ${found}, but this program writes ${dataFormat}: nothing was written. Check out the commit in the output Release of its stack, and run npm ci.`,
  );
}

/** How often it is shown how far a command is, in milliseconds. */
const shownEvery = 10_000;

/** A pace that says at a terminal, every ten seconds, how many read units the command has used. */
export class ShownPace extends Pace {
  #used = 0;
  #shownAt = Date.now();

  override spend(units: number): Promise<void> {
    this.#used += units;
    if (process.stderr.isTTY && Date.now() - this.#shownAt >= shownEvery) {
      this.#shownAt = Date.now();
      console.error(`${Math.round(this.#used).toLocaleString("en")} read units used so far.`);
    }
    return super.spend(units);
  }
}
