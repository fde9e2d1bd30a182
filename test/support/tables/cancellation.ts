import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";

/** The error of a cancelled transaction, with a reason code for each of its items. */
export const canceled = (...codes: string[]) =>
  new TransactionCanceledException({
    message: "canceled",
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
