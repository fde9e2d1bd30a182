import type { TransactionCanceledException } from "@aws-sdk/client-dynamodb";

/** What errors of Node.js and of the AWS SDK have beside their name, and that never quotes a request. */
type Details = { readonly code?: string } & Partial<
  Pick<TransactionCanceledException, "$metadata" | "CancellationReasons">
>;

interface LoggedError {
  readonly name: string;
  readonly code?: string;
  /** By which AWS can say more of a call that failed. */
  readonly awsRequestId?: string;
  /** Why a transaction was canceled, item by item. */
  readonly reasons?: readonly (string | undefined)[];
  readonly stack?: string;
}

/**
 * What the log may know of an error: what kind it is, and where in the code it was thrown.
 *
 * Its message is left out, and so are its causes and all other properties: those of the AWS SDK and of JavaScript
 * itself quote values, which may be what a caller sent.
 */
export function loggedError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, $metadata, CancellationReasons } = error as Error & Details;
  return {
    name: error.name,
    ...(code !== undefined && { code }),
    ...($metadata?.requestId !== undefined && { awsRequestId: $metadata.requestId }),
    ...(CancellationReasons && { reasons: CancellationReasons.map(({ Code }) => Code) }),
    stack: stackFrames(error),
  };
}

/** A message may have lines that look like frames; the last place where it can end is never before its real end. */
function stackFrames({ message, stack = "" }: Error): string {
  const heading = `: ${message}`;
  const at = stack.lastIndexOf(`${heading}\n    at `);
  return stack
    .slice(at < 0 ? 0 : at + heading.length)
    .split("\n")
    .filter((line) => line.startsWith("    at "))
    .join("\n");
}
