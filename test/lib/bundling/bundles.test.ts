import { isAscii } from "node:buffer";
import { execFileSync, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleFunctions, functionNames } from "../../../lib/bundling/bundle.ts";
import { conversationsQueryDescriptions } from "../../../shared/schemas/conversation-schemas.ts";
import { leadsQueryDescriptions } from "../../../shared/schemas/lead-schemas.ts";
import { bundle } from "../../support/stack/bundle.ts";
import { createDirectory } from "../../support/stack/synthesize.ts";

/** The size limits of bundles that may be larger than the others, in bytes. */
const largest: Partial<Record<string, number>> = {
  // It also reads messages with their templates, and has the most parameters.
  "list-conversations": 280_500,
  "list-leads": 272_800,
  // It has the schemas of a new lead, of its update and of a stored one.
  "create-lead": 288_500,
  // It has the schemas of three bodies, and of a stored message and conversation, and queries messages.
  "send-message": 293_500,
  // They have three AWS clients, or two and the schemas of leads and messages. No caller waits for their cold start.
  "deliver-message": 338_400,
  "receive-webhook": 342_200,
};

const directory = await createDirectory();
/** The deployed bundles. Only bundles that are built one by one come with a list of their inputs. */
const deployed = await bundleFunctions(join(directory, "deployed"));

/** The files whose code is in the bundle. */
const includedFiles = ({ outputs }: Metafile) =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
  );

test("`bin/frames.ts` prints where the frames of a stack trace are in the sources, and refuses those of another release", async () => {
  const bundle = join(deployed, "create-lead");
  const code = "require(process.argv[1]).handler({ rawQueryString: '' }).catch(() => {})";
  const { stderr: log } = spawnSync(process.execPath, ["-e", code, join(bundle, "index.cjs")]);
  expect(String(log)).toMatch(/index\.cjs:\d+:\d+/);
  const frames = join(import.meta.dirname, "../../../bin/frames.ts");
  const { stdout } = spawnSync(process.execPath, [frames, bundle], { input: log });
  const [, line] = /shared\/http\/route-handler\.ts:(\d+):\d+/.exec(String(stdout)) ?? [];
  const source = await readFile(join(import.meta.dirname, "../../../shared/http/route-handler.ts"), "utf8");
  expect(source.split("\n")[Number(line) - 1]).toContain("handler(event, context)");
  expect(String(stdout)).not.toContain("index.cjs");
  const other = spawnSync(process.execPath, [frames, bundle], {
    input: "at x (/var/task/index.cjs:1:9999999)",
  });
  expect([other.status, String(other.stderr)]).toEqual([
    1,
    expect.stringContaining("comes from another release"),
  ]);
});

describe.each(functionNames)("the bundle of %s", (name) => {
  const outfile = () => join(directory, `${name}.cjs`);
  let metafile: Metafile;
  beforeAll(async () => {
    metafile = await bundle(join(import.meta.dirname, "../../../functions", `${name}.ts`), outfile());
  });

  test("equals the deployed bundle", async () => {
    const [code, other] = await Promise.all(
      [outfile(), join(deployed, name, "index.cjs")].map((file) => readFile(file, "utf8")),
    );
    // Not `toBe`: it would print both.
    expect(code === other).toBe(true);
  });

  test("is ASCII, within its size limit, and has no code of Ajv except the runtime", async () => {
    const code = await readFile(outfile());
    expect(code.length).toBeLessThanOrEqual(largest[name] ?? 235_000);
    // Node reads ASCII with half the memory.
    expect(isAscii(code)).toBe(true);
    const files = includedFiles(metafile);
    expect(files).toContain(`functions/${name}.ts`);
    const ajv = files.filter((file) => /node_modules\/ajv/.test(file));
    expect(ajv.filter((file) => !file.includes("node_modules/ajv/dist/runtime/"))).toEqual([]);
    for (const text of Object.values({ ...leadsQueryDescriptions, ...conversationsQueryDescriptions }))
      expect(code.includes(text)).toBe(false);
  });

  test("loads no costly module of Node.js that it does not need", () => {
    const code = "require(process.argv[1]); console.log(process.moduleLoadList.join())";
    const loaded = execFileSync(process.execPath, ["-e", code, outfile()], { encoding: "utf8" });
    const costly = /(?<=NativeModule )(?:zlib|internal\/(?:webstreams|deps\/undici))/g;
    // One function computes CRC-32, which is in zlib.
    const needed = name === "authorize" ? ["zlib"] : null;
    expect(loaded.match(costly)).toEqual(needed);
  });

  test("has no code of the SDK for environments other than Lambda", () => {
    const unneeded =
      /credential-provider-(?!node|env)|nested-clients|token-providers|event-streams|xml|cbor|protocols\/query\//;
    const sdk = includedFiles(metafile).filter((file) => /node_modules\/@(aws-sdk|smithy)\//.test(file));
    expect(sdk.filter((file) => unneeded.test(file))).toEqual([]);
  });
});
