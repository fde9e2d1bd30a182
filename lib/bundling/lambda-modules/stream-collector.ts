import type { IncomingMessage } from "node:http";

/** The bytes of a response, without the SDK's stream that each would be piped to. */
export const streamCollector = (response: IncomingMessage) =>
  new Promise<Uint8Array>((resolve, reject) => {
    const chunks: Buffer[] = [];
    response
      .on("data", (chunk) => chunks.push(chunk))
      .on("end", () => resolve(Buffer.concat(chunks)))
      .on("error", reject);
  });
