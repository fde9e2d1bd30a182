import type { TransactionCanceledException } from "@aws-sdk/client-dynamodb";

/** The release of the running code. */
export const release = process.env.RELEASE;

/**
 * The parts of an error that may be logged: its kind, and where in the code it was thrown.
 *
 * Its message, its causes and its other properties are left out, because errors of the AWS SDK and of JavaScript quote
 * values that a caller may have sent. The local run, and a stage with `logErrorMessages`, log the message.
 */
export function loggedError(error: unknown): { readonly name: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { name: typeof error };
  // Properties of errors of Node.js and the AWS SDK that never quote a request.
  const { code, $metadata, CancellationReasons } = error as NodeJS.ErrnoException &
    Partial<TransactionCanceledException>;
  return {
    name: error.name,
    ...(process.env.LOG_ERROR_MESSAGES && { message: error.message }),
    ...(code !== undefined && { code }),
    // AWS Support finds the failed call by this id.
    ...($metadata?.requestId !== undefined && { awsRequestId: $metadata.requestId }),
    // Why a transaction was canceled, one reason for each item.
    ...(CancellationReasons && { reasons: CancellationReasons.map(({ Code }) => Code) }),
    stack: stackFrames(error),
  };
}

/** A message may contain lines that look like frames, so only lines after its last occurrence are frames. */
function stackFrames({ message, stack = "" }: Error): string {
  const heading = `: ${message}`;
  const at = stack.lastIndexOf(`${heading}\n    at `);
  return stack
    .slice(at < 0 ? 0 : at + heading.length)
    .split("\n")
    .filter((line) => line.startsWith("    at "))
    .join("\n");
}
