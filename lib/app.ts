import { join } from "node:path";
import { App, Validations } from "aws-cdk-lib";
import { bundleFunctions } from "./bundling/bundle.ts";
import { readConfig } from "./config/config.ts";
import { ServiceStack } from "./stack.ts";

interface AppProps {
  /** The directory with the files of the stages, by default the project's. */
  readonly stages?: string;
  /** The directory of the cloud assembly. By default, the CDK reads it from `CDK_OUTDIR`. */
  readonly outdir?: string;
  /** Flags such as `stage`, which override those of the command line and of `CDK_CONTEXT_JSON`. */
  readonly context?: Readonly<Record<string, unknown>>;
  /**
   * The directory with a folder of code for each function. By default, the functions are bundled inside `outdir`, so that
   * no two processes write the same files.
   */
  readonly bundles?: string;
  /** Whether cdk-nag checks the stack, by default true. The checks take a fifth of a synthesis. */
  readonly checked?: boolean;
}

/**
 * Creates the CDK app and bundles its functions. If cdk-nag checks the stack, a finding fails the synthesis.
 *
 * @throws UserError for an unknown stage, or a mistake in its file
 */
export async function createApp(props: AppProps = {}): Promise<App> {
  const { stages, outdir, context, checked = true } = props;
  const app = new App({
    outdir,
    postCliContext: context,
    autoSynth: false,
  });
  const config = readConfig(app.node.getAllContext(), stages);
  const bundles = props.bundles ?? (await bundleFunctions(join(app.outdir, "bundles")));
  new ServiceStack(app, { config, bundles });
  if (checked) {
    const { AwsSolutionsChecks, ServerlessChecks } = await import("cdk-nag");
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  }
  return app;
}
