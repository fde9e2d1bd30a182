import { build, type Metafile } from "esbuild";
import { bundleOptions } from "../../lib/bundling/bundle.ts";

/**
 * Bundles one entry file the way functions are deployed.
 *
 * @param plugins fewer of them make the bundle to compare with
 * @returns esbuild's account of the bundle's inputs
 */
export async function bundle(
  entryPoint: string,
  outfile: string,
  plugins = bundleOptions.plugins,
): Promise<Metafile> {
  const entryPoints = [entryPoint];
  return (await build({ ...bundleOptions, metafile: true, entryPoints, outfile, plugins })).metafile;
}
