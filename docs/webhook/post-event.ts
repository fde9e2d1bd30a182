import { createHmac } from "node:crypto";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import type { SQSEvent } from "aws-lambda";

const { RECEIVER_URL = "", SECRET_NAME } = process.env;

const { Parameter } = await new SSMClient().send(
  new GetParameterCommand({ Name: SECRET_NAME, WithDecryption: true }),
);
const key = Buffer.from(`${Parameter?.Value}`.replace("whsec_", ""), "base64");

/** Posts an event, signed as a Standard Webhook. The queue retries an event whose post fails. */
export async function handler({ Records }: SQSEvent): Promise<void> {
  for (const { body } of Records) {
    const { id } = JSON.parse(body).detail;
    // Receivers refuse an old timestamp, so each attempt has its own.
    const timestamp = Math.floor(Date.now() / 1000);
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    const { ok, status } = await fetch(RECEIVER_URL, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": `${timestamp}`,
        "webhook-signature": `v1,${signature}`,
      },
      body,
      // `fetch` follows a redirect with a GET that has no event.
      redirect: "manual",
      signal: AbortSignal.timeout(15_000),
    });
    if (!ok) throw new Error(`The receiver responded to ${id} with ${status}.`);
  }
}
