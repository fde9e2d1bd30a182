import { isAscii } from "node:buffer";
import { execFileSync, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bundleFunctions, functionNames } from "../../../lib/bundling/bundle.ts";
import { conversationsQueryDescriptions } from "../../../shared/schemas/conversation-schemas.ts";
import { leadsQueryDescriptions } from "../../../shared/schemas/lead-schemas.ts";
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

const deployed = await bundleFunctions(await createDirectory());

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

describe.each(functionNames)("the bundle of %s", async (name) => {
  const outfile = join(deployed, name, "index.cjs");
  /** The files whose code is in the bundle. */
  const { sources }: { readonly sources: readonly string[] } = JSON.parse(
    await readFile(`${outfile}.map`, "utf8"),
  );

  test("is ASCII, within its size limit, and has no code of Ajv except the runtime", async () => {
    const code = await readFile(outfile);
    expect(code.length).toBeLessThanOrEqual(largest[name] ?? 235_000);
    // Node reads ASCII with half the memory.
    expect(isAscii(code)).toBe(true);
    expect(sources.filter((file) => file.endsWith(`/functions/${name}.ts`))).toHaveLength(1);
    // The package's own source map names its files in TypeScript.
    expect(sources.filter((file) => /node_modules\/ajv(?!\/lib\/runtime\/)/.test(file))).toEqual([]);
    for (const text of Object.values({ ...leadsQueryDescriptions, ...conversationsQueryDescriptions }))
      expect(code.includes(text)).toBe(false);
  });

  test("loads no costly module of Node.js that it does not need", () => {
    const code = "require(process.argv[1]); console.log(process.moduleLoadList.join())";
    const loaded = execFileSync(process.execPath, ["-e", code, outfile], { encoding: "utf8" });
    const costly = /(?<=NativeModule )(?:zlib|internal\/(?:webstreams|deps\/undici))/g;
    // One function computes CRC-32, which is in zlib.
    const needed = name === "authorize" ? ["zlib"] : null;
    expect(loaded.match(costly)).toEqual(needed);
  });

  test("has no code of the SDK for environments other than Lambda", () => {
    const unneeded =
      /credential-provider-(?!node|env)|nested-clients|token-providers|event-streams|xml|cbor|protocols\/query\//;
    const sdk = sources.filter((file) => /node_modules\/@(aws-sdk|smithy)\//.test(file));
    expect(sdk.filter((file) => unneeded.test(file))).toEqual([]);
  });
});
