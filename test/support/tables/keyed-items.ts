interface Keyed {
  readonly Key?: { readonly pk: string; readonly sk: string };
  readonly Item?: { readonly pk: string; readonly sk: string };
  readonly TransactItems?: readonly Readonly<Record<string, Keyed>>[];
}

/** The items that a command or its transaction names, as texts. Batches and queries name none. */
export function keyedItems(command: object): readonly string[] {
  const input = Reflect.get(command, "input") as Keyed;
  const parts = input.TransactItems?.flatMap((part) => Object.values(part)) ?? [input];
  return parts.flatMap(({ Key, Item }) => Key ?? Item ?? []).map(({ pk, sk }) => `${pk} ${sk}`);
}
