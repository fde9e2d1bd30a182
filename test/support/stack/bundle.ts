import { build, type Metafile } from "esbuild";
import { bundleOptions } from "../../../lib/bundling/bundle.ts";

/** Bundles one entry file the way functions are deployed. @returns esbuild's metadata of the bundle */
export const bundle = async (entryPoint: string, outfile: string): Promise<Metafile> =>
  (await build({ ...bundleOptions, metafile: true, entryPoints: [entryPoint], outfile })).metafile;
