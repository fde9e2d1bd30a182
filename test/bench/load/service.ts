/**
 * Runs the service as `npm start` does, in another process than the client, with a new data directory, and without the
 * rate limit. Fork this file: it sends its URL and a key, and ends when it is disconnected.
 */
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selectEngineTable } from "../../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../../lib/local/local-run.ts";
import { writeLimit } from "../../../lib/ops/accounts/accounts-settings.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";

const dataDirectory = await mkdtemp(join(tmpdir(), "bench-load-"));
process.once("exit", () => rmSync(dataDirectory, { recursive: true, force: true }));
process.once("disconnect", () => process.exit());

// The throttle of this stage is higher than any machine's load.
const options = { stage: "prod", log: () => {} };
const { url, dynamodbEndpoint, tableName } = await startLocal({ dataDirectory, ...options });
selectEngineTable(dynamodbEndpoint, tableName);
const { apiKey } = await issueApiKey("bench");
await writeLimit("bench", 1e9);
process.send?.({ url, apiKey });
