import { ApiError } from "../errors.ts";
import { idPrefixes } from "../ids.ts";

const nouns = ["lead", "conversation", "message"] as const;

/** The error for an id that the account does not have. Its message states what the id names if that is something else. */
export function notFound(noun: (typeof nouns)[number], field: string, id: string): ApiError {
  const kind = nouns.find((each) => id.startsWith(`${idPrefixes[each]}_`)) ?? noun;
  const reason = kind === noun ? "" : `, which is the id of a ${kind}`;
  const owner = noun === "message" && field === "id" ? "conversation" : "account";
  return new ApiError(`${noun}_not_found`, `This ${owner} has no ${noun} with this ${field}${reason}.`);
}
