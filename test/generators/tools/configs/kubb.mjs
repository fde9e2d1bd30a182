import { defineConfig } from "@kubb/core";
import { pluginClient } from "@kubb/plugin-client";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";
import { pluginZod } from "@kubb/plugin-zod";

/** The document is the environment variable `DOCUMENT`. The client checks requests and responses with Zod. */
export default defineConfig({
  input: { path: process.env.DOCUMENT },
  output: { path: ".build/kubb", clean: true },
  plugins: [pluginOas(), pluginTs(), pluginZod(), pluginClient({ client: "fetch", parser: "zod" })],
});
