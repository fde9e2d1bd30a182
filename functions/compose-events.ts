import type { DynamoDBRecord } from "aws-lambda";
import type { ServiceEvent } from "../shared/domain/event-schemas.ts";
import { toEvents } from "../shared/domain/events.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

/** Turns the table's new items into the events that the pipe puts on the bus. */
async function composeEvents(records: readonly DynamoDBRecord[]): Promise<ServiceEvent[]> {
  return toEvents(records);
}

export const handler = maskedFailures(composeEvents);
