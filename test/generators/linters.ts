import { readFile } from "node:fs/promises";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { runTool } from "./tools.ts";

/** The problems that Redocly finds in a document with `recommended-strict`, a line each. */
export async function lintWithRedocly(file: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: await readFile(file, "utf8"), absoluteRef: file, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
}

/** The problems that Spectral finds in a document with `spectral:oas`, hints included, a line each. */
export async function lintWithSpectral(file: string): Promise<string[]> {
  const args = ["lint", file, "--ruleset", "configs/spectral.yaml", "--format", "json", "--quiet"];
  const { output } = await runTool("spectral", args);
  const problems = JSON.parse(output) as { code: string; path: string[]; message: string }[];
  return problems.map(({ code, path, message }) => `${code} ${path.join(".")}: ${message}`);
}
