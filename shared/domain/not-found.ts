import { ApiError } from "../errors.ts";
import { idKind } from "../ids.ts";

/** The error of an id that names nothing of the account, which says what else the id may name. */
export function notFound(noun: "lead" | "conversation" | "message", field: string, id: string): ApiError {
  const kind = idKind(id) ?? noun;
  const reason = kind === noun ? "" : `, which is the id of a ${kind}`;
  const owner = noun === "message" && field === "id" ? "conversation" : "account";
  return new ApiError(`${noun}_not_found`, `This ${owner} has no ${noun} with this ${field}${reason}.`);
}
