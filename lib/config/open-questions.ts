import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RemovalPolicy } from "aws-cdk-lib";
import type { Config } from "./config.ts";
import { hasStageFile } from "./stage-file.ts";
import type { Question } from "./stage-schema.ts";

const consequences: Readonly<Record<Question, string>> = {
  account: "credentials of any AWS account can deploy it",
  region: "it is deployed to the region of whoever deploys it",
  alarmsTo: "nobody is told of an alarm",
  monthlyBudget: "nobody is told what it costs",
  backup: "no copy of its data outlives the table, or 35 days",
  throttleBurst: "a burst of more than the 1,000 environments of most AWS accounts gets 5xx",
};

/** Whether a stage does not set something, or a burst above the 1,000 environments of most AWS accounts. */
const isOpen = (config: Config, name: Question) =>
  name === "throttleBurst" ? config.throttleBurst > 1000 : config[name] === undefined;

/**
 * The warnings about a stage that keeps its data and leaves open what it should choose, by their names.
 *
 * @param directory where the files of the stages are
 */
export function findOpenQuestions(config: Config, directory: string): [Question, string][] {
  if (config.removalPolicy !== RemovalPolicy.RETAIN) return [];
  const file = `${config.stage}.json`;
  const lines = hasStageFile(directory, config.stage)
    ? readFileSync(join(directory, file), "utf8").split("\n")
    : [];
  return (Object.keys(consequences) as Question[]).flatMap((name) => {
    if (!isOpen(config, name) || config.onPurpose.includes(name)) return [];
    const value = config[name];
    const line = value === undefined ? 0 : lines.findIndex((text) => text.includes(`"${name}":`)) + 1;
    const place = `stages/${file}${line > 0 ? `:${line}` : ""}`;
    const sentence = `${name} is ${value ?? "not set"}, so ${consequences[name]}.`;
    return [[name, `${place}: ${sentence} Set or change it there, or add "${name}" to "onPurpose".`]];
  });
}
