import { CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { createApp } from "../../../lib/app.ts";
import { type TestSettings, writeStages } from "./stage-files.ts";

interface Assembly {
  readonly outdir: string;
  /**
   * The table's name in place of the stage's. The tests of the whole API create the table that the template names, and an
   * engine that runs longer than the tests may already have a table of the stage.
   */
  readonly tableName: string;
  /** Settings that override the settings of the tests' stage `dev`. */
  readonly settings?: TestSettings;
  /** A directory with existing bundles. */
  readonly bundles?: string;
}

/** Synthesizes the tests' stage `dev` with another table name. @returns the directory */
export async function synthesizeAssembly({
  outdir,
  tableName,
  settings,
  ...props
}: Assembly): Promise<string> {
  const stages = await writeStages(outdir, "dev", settings);
  const app = await createApp({ context: { stage: "dev" }, stages, outdir, checked: false, ...props });
  for (const construct of app.node.findAll()) {
    if (construct instanceof CfnTable) construct.tableName = tableName;
  }
  // Only the tests of the stack validate the template.
  process.env.CDK_VALIDATION = "false";
  app.synth();
  return outdir;
}
