import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { machineTolerance } from "../../../shared/pages/audit/repair.ts";
import { UserError } from "../../user-error.ts";

/** The resolution of the header `Date`, in milliseconds. */
const resolution = 1000;

/** How far DynamoDB's clock is ahead of this machine's, in milliseconds; 0 if the machine's time can be right. */
let ahead = 0;

/** The time by DynamoDB's clock, as far as its last response shows it, in milliseconds since the epoch. */
export const tableTime = () => Date.now() + ahead;

/**
 * Compares this machine's clock with the header `Date` of each response of a client. An engine that sends none has this
 * machine's clock.
 *
 * The client throws a `UserError` while the clocks differ by more than a second, because counts depend on the time.
 */
export function compareClocks(client: DynamoDBDocumentClient): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const sentAt = Date.now();
      const result = await next(args);
      const { headers = {} } = result.response as { readonly headers?: Readonly<Record<string, string>> };
      ahead = clockDifference(headers.date, sentAt, Date.now());
      if (Math.abs(ahead) <= machineTolerance) return result;
      const seconds = Number((Math.abs(ahead) / 1000).toFixed(1));
      throw new UserError(
        `The clock of this machine is ${seconds} s ${ahead < 0 ? "ahead of" : "behind"} DynamoDB's: correct it, and run the command again.`,
      );
    },
    { step: "deserialize", priority: "low" },
  );
}

/** The least difference that explains a response's `Date`: it was written between the request and the response. */
function clockDifference(date: string | undefined, sentAt: number, receivedAt: number): number {
  const time = Date.parse(date ?? "");
  if (Number.isNaN(time)) return 0;
  return Math.max(time - receivedAt, Math.min(0, time + resolution - sentAt));
}
