import { Errors } from "aws-cdk-lib";
import { createApp } from "../lib/app.ts";
import { run } from "../lib/command-line.ts";

// The local run leaves the checks to deployments. A variable could be left set in a shell that deploys.
const checked = !process.argv.includes("--unchecked");

await run(async () => (await createApp({ checked })).synth(), Errors.isValidationError);
