import { CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { createApp } from "../../lib/app.ts";

interface Assembly {
  readonly outdir: string;
  /**
   * The table's name in place of the template's: the tests of the whole API create the table that the template names,
   * and on an engine that outlives them it must be nobody else's.
   */
  readonly tableName: string;
  /** Configuration values over those of `dev`. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Bundles that are there already. */
  readonly bundles?: string;
}

/** Synthesizes what `dev` deploys, but for the table's name. */
export async function synthesizeAssembly({ outdir, tableName, ...given }: Assembly): Promise<void> {
  const app = await createApp({ stage: "dev", outdir, ...given });
  for (const construct of app.node.findAll()) {
    if (construct instanceof CfnTable) construct.tableName = tableName;
  }
  app.synth();
}
