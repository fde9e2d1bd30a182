import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { enginePorts, findManifest } from "../../../../lib/local/engine/engine.ts";
import { UserError } from "../../../../lib/user-error.ts";

test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  "the engine comes from the npm package of this platform and architecture",
  () => {
    const { name } = JSON.parse(readFileSync(findManifest(), "utf8")) as { name: string };
    expect(name).toBe(`@dynoxide/${process.platform}-${process.arch}`);
  },
);

test.each([
  ["linux", "riscv64"],
  ["win32", "arm64"],
])("without an engine for %s on %s, the error says how to start DynamoDB Local", (platform, arch) => {
  const find = () => findManifest(platform, arch);
  expect(find).toThrow(UserError);
  expect(find).toThrow(`(@dynoxide/${platform}-${arch}) is not installed: run \`npm ci\`.`);
  expect(find).toThrow("`DYNAMODB_ENDPOINT=http://127.0.0.1:8000 npm start`");
});

test.each(enginePorts)("no web page can send a request to the port %i", async (port) => {
  // Like browsers, the fetch of Node.js blocks the ports that the Fetch Standard lists.
  const refused = fetch(`http://127.0.0.1:${port}`);
  await expect(refused).rejects.toMatchObject({ cause: { message: "bad port" } });
});
