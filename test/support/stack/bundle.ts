import { build, type Metafile } from "esbuild";
import { bundleOptions } from "../../../lib/bundling/bundle.ts";

/**
 * Bundles one entry file the way functions are deployed.
 *
 * @param isWhole whether nothing is replaced or left out, for the bundle to compare with
 * @returns esbuild's account of the bundle's inputs
 */
export async function bundle(entryPoint: string, outfile: string, isWhole = false): Promise<Metafile> {
  const entryPoints = [entryPoint];
  const whole = isWhole && { plugins: [], alias: {} };
  return (await build({ ...bundleOptions, metafile: true, entryPoints, outfile, ...whole })).metafile;
}
