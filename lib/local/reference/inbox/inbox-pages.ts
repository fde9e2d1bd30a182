import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pageFile, pageResponse } from "../page-response.ts";

const files = ["inbox.js", "read.js", "requests.js", "view.js", "style.css"];

/** The client of the API and its recipes, as a browser runs them. */
const clientFiles = ["client.ts", "recipes.ts"];

/** The page at `/inbox`: who waits for a reply, the messages with their states, and the requests that it takes. */
export const inboxPages: Readonly<Record<string, () => Promise<Response>>> = {
  "/inbox": () => pageFile(join(import.meta.dirname, "index.html")),
  ...Object.fromEntries(
    files.map((name) => [`/inbox/${name}`, () => pageFile(join(import.meta.dirname, name))]),
  ),
  ...Object.fromEntries(clientFiles.map((name) => [`/inbox/${name}`, () => clientFile(name)])),
};

async function clientFile(name: string) {
  // It would delay the start of the run.
  const { transform } = await import("esbuild");
  const source = await readFile(join(import.meta.dirname, "../../../../docs/client", name), "utf8");
  return pageResponse(".js", (await transform(source, { loader: "ts" })).code);
}
