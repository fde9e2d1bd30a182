import { createApp } from "../lib/app.ts";
import { run } from "../lib/command-line.ts";

await run(async () => (await createApp()).synth());
