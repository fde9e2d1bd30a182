import type { RowChange } from "../../shared/pages/maintain/changes.ts";

/** Changes of rows without sublists. @param sequenceNumber that of a record, from the key of its row */
export const rowChanges = (keys: readonly string[], sequenceNumber = (key: string) => key): RowChange[] =>
  keys.map((key) => ({ key, sequenceNumber: sequenceNumber(key), kind: "created", origins: [] }));
