import { createApp } from "../lib/app.ts";

try {
  const app = await createApp();
  app.synth();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
