import { type CountedOwner, countedLists } from "../../../shared/pages/tree/counted-list.ts";

/** The lists of an account. */
export const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));
