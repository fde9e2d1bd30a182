/** A failure that the operator can mend: its message is all that they need to see. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}
