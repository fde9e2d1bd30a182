import { Errors } from "aws-cdk-lib";
import { createApp } from "../lib/app.ts";
import { run } from "../lib/command-line.ts";

// The variable is the CDK's own, for its validation of the template.
const checked = process.env.CDK_VALIDATION !== "false";

await run(async () => (await createApp({ checked })).synth(), Errors.isValidationError);
