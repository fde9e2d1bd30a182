import { Command, InvalidArgumentError } from "commander";
import { canaryClient } from "../../../shared/canary/canary-client.ts";
import { runCanary } from "../../../shared/canary/canary-run.ts";
import { errorCode, errorMessage, UserError } from "../../errors.ts";

/** `api check`: uses a deployed API as its canary does. */
export const apiCommand = (): Command =>
  new Command("api")
    .description("use the API as callers do")
    .addCommand(
      new Command("check")
        .description("create a lead, repeat the request, find it, list leads, and send a message")
        .requiredOption("--url <url>", "the address of the API, which is the output ApiUrl", parseUrl)
        .addHelpText("after", "\nThe environment variable API_KEY has the API key, with full access.")
        .action(checkApi),
    );

function parseUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text;
  throw new InvalidArgumentError("An address is a URL such as https://api.example.com.");
}

async function checkApi({ url }: { url: string }): Promise<void> {
  const { API_KEY } = process.env;
  if (!API_KEY) throw new UserError("API_KEY is not set: set it to an API key with full access.");
  const start = performance.now();
  try {
    await runCanary(canaryClient(url, API_KEY), new Date().toISOString().slice(0, 10));
  } catch (error) {
    throw new UserError(`The API at ${url} failed the check: ${reason(error)}.`, { cause: error });
  }
  console.log(`The API at ${url} works: six requests took ${Math.round(performance.now() - start)} ms.`);
}

/** What failed: a check, or the connection. */
const reason = (error: unknown) =>
  errorCode(error) ?? errorMessage(error instanceof TypeError && error.cause ? error.cause : error);
