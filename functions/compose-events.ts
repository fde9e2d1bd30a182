import type { DynamoDBRecord } from "aws-lambda";
import type { ServiceEvent } from "../shared/domain/event-schemas.ts";
import { toEvents } from "../shared/domain/events.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

/** Makes of the table's new items the events that the pipe puts on the bus; none for an item that is no news. */
async function composeEvents(records: readonly DynamoDBRecord[]): Promise<ServiceEvent[]> {
  return toEvents(records);
}

export const handler = maskedFailures(composeEvents);
