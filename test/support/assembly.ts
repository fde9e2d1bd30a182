import { CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { createApp } from "../../lib/app.ts";

interface Assembly {
  readonly outdir: string;
  /**
   * The table's name instead of the stage's: the tests of the whole API create the table that the template names, and
   * an engine that outlives them may have a table of the stage.
   */
  readonly tableName: string;
  /** Configuration values that override those of `dev`. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** A directory with existing bundles. */
  readonly bundles?: string;
}

/** Synthesizes the stage `dev` with another table name. */
export async function synthesizeAssembly({ outdir, tableName, ...props }: Assembly): Promise<void> {
  const app = await createApp({ stage: "dev", outdir, ...props });
  for (const construct of app.node.findAll()) {
    if (construct instanceof CfnTable) construct.tableName = tableName;
  }
  app.synth();
}
