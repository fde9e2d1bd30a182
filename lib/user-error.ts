/** An error that the user of a command can fix. Commands print its message without a stack. */
export class UserError extends Error {
  override readonly name = "UserError";
}

/** The message of anything thrown. */
export const errorMessage = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The code of a failed system call, such as `ENOENT`. */
export const errorCode = (error: unknown) =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
