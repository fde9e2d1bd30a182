import { createHash, randomUUID } from "node:crypto";

/**
 * Takes the messages of failure queues, which nothing reads: a message has a position in the stream, and is logged.
 *
 * @returns `SendMessage`
 */
export const openLocalQueues =
  (log: (line: string) => void) =>
  async ({ QueueUrl, MessageBody }: { readonly QueueUrl: string; readonly MessageBody: string }) => {
    log(`[${QueueUrl}] ${MessageBody}`);
    // The SDK compares it.
    const MD5OfMessageBody = createHash("md5").update(MessageBody).digest("hex");
    return { MessageId: randomUUID(), MD5OfMessageBody };
  };
