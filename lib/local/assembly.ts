import { createApp } from "../app.ts";

/** Writes the cloud assembly of the stage `dev` into a directory. */
export async function writeAssembly(outdir: string, bundles: string | undefined): Promise<void> {
  const app = await createApp({ stage: "dev", outdir, ...(bundles !== undefined && { bundles }) });
  app.synth();
}
