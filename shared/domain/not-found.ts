import { ApiError } from "../errors.ts";
import { idKind } from "../ids.ts";

/** The error for an id that the account does not have. Its message states what the id names if that is something else. */
export function notFound(noun: "lead" | "conversation" | "message", field: string, id: string): ApiError {
  const kind = idKind(id) ?? noun;
  const reason = kind === noun ? "" : `, which is the id of a ${kind}`;
  const owner = noun === "message" && field === "id" ? "conversation" : "account";
  return new ApiError(`${noun}_not_found`, `This ${owner} has no ${noun} with this ${field}${reason}.`);
}
