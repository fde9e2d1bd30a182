import { Command, InvalidArgumentError } from "commander";
import { canaryClient, FailedCheck, timeout } from "../../../shared/canary/canary-client.ts";
import { runCanary } from "../../../shared/canary/canary-run.ts";
import { parseApiKey } from "../../../shared/domain/api-key-format.ts";
import { UserError } from "../../errors.ts";

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
  if (!parseApiKey(API_KEY))
    throw new UserError("The checksum of API_KEY is wrong: it has a typo, is cut off, or is not an API key.");
  const start = performance.now();
  try {
    await runCanary(canaryClient(url, API_KEY), new Date().toISOString().slice(0, 10));
  } catch (error) {
    throw error instanceof FailedCheck ? new UserError(describe(url, error), { cause: error }) : error;
  }
  console.log(`The API at ${url} works: six requests took ${Math.round(performance.now() - start)} ms.`);
}

/** What an operator can do about a failed check, by its reason. */
function describe(url: string, { code, reason = "" }: FailedCheck): string {
  const { host, hostname } = new URL(url);
  if (/^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(reason))
    return `No TLS connection to ${host} is possible (${reason}): check its certificate, and --url.`;
  switch (reason) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host ${hostname} was not found (${reason}): check --url and the network.`;
    case "ECONNREFUSED":
      return `The host ${host} refused the connection: check the host and the port of --url.`;
    case "TimeoutError":
    case "ETIMEDOUT":
      return `The host ${host} did not respond within ${timeout / 1000} seconds: check --url and the network.`;
    case "foreign":
      return `The host ${host} responded, but not as this API: ${code}. Check --url, which is the output ApiUrl.`;
    case "401":
      return `The host ${host} received no API key: ${code}. A proxy may remove the header Authorization.`;
    case "403":
      return `The host ${host} rejected the API key: it is unknown, expired or revoked, or this is not a host of the key's stage.`;
    case "insufficient_access":
      return "The API key may only read: use one with full access.";
  }
  return `The API at ${url} failed the check: ${code}.`;
}
