import { hashName, type Sublist } from "../../dynamodb/keys.ts";
import type { Filter } from "./counted-list.ts";

/** Whether the tree of a sublist has groups: there is an index of statuses for sources and channels only. */
export const hasGroups = ({ index }: Sublist) => index !== "by-origin";

/**
 * The groups of the rows of such a sublist, for which no index exists: those with a status, of a source or on a
 * channel, or both. The tree of the partition has a root and nodes for each of them.
 */
export const rowGroups = ({ status, sourceOrChannel }: Filter): readonly string[] =>
  sourceOrChannel === undefined
    ? [groupName({ status })]
    : [groupName({ status }), groupName({ sourceOrChannel }), groupName({ status, sourceOrChannel })];

/** The name of a group: of a hash's length, whatever the filter. */
export const groupName = ({ status, sourceOrChannel }: Filter) =>
  hashName(JSON.stringify([status ?? null, sourceOrChannel ?? null]));
