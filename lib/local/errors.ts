/** A failure that the developer can put right: its message is a sentence to show without a stack. */
export class LocalRunError extends Error {
  override readonly name = "LocalRunError";
}

/** The message of anything thrown. */
export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The code of a failed system call, as `ENOENT`. */
export const codeOf = (error: unknown) =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
