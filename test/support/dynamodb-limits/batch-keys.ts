/** An item or a key: plain values, or those of the wire format (`{ S: "…" }`). */
export type Values = Readonly<Record<string, unknown>>;

/** The keys that a batch reads of each table, and how it reads them. */
export type BatchKeys = Readonly<Record<string, TableKeys>>;

export interface TableKeys {
  readonly Keys?: readonly Values[] | undefined;
}

/** All keys of a batch, table by table. */
export const keysOf = (batch: BatchKeys) => Object.values(batch).flatMap(({ Keys = [] }) => Keys);

/** A batch with some of its keys only, without tables of which it then has none. */
export function pickKeys(batch: BatchKeys, isPicked: (key: Values) => boolean): BatchKeys {
  const picked = Object.entries(batch).map(([table, { Keys = [], ...request }]) => {
    return [table, { ...request, Keys: Keys.filter(isPicked) }] as const;
  });
  return Object.fromEntries(picked.filter(([, { Keys }]) => Keys.length > 0));
}

/** Adds keys to those that the response of a batch names as not read. */
export function addUnprocessed(
  response: Readonly<Record<string, unknown>>,
  batch: BatchKeys,
): Record<string, unknown> {
  const UnprocessedKeys = { ...(response.UnprocessedKeys as BatchKeys | undefined) };
  for (const [table, { Keys = [], ...request }] of Object.entries(batch))
    UnprocessedKeys[table] = { ...request, Keys: [...(UnprocessedKeys[table]?.Keys ?? []), ...Keys] };
  return { ...response, UnprocessedKeys };
}
