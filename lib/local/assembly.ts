import { createApp } from "../app.ts";

/** What an assembly is made of beside the sources. */
export type AssemblyProps = Pick<NonNullable<Parameters<typeof createApp>[0]>, "bundles" | "context">;

/** Writes the cloud assembly of the stage `dev` into a directory. */
export async function writeAssembly(outdir: string, props: AssemblyProps): Promise<void> {
  const app = await createApp({ stage: "dev", outdir, ...props });
  app.synth();
}
