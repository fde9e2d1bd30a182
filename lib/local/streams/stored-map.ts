import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { parseJson } from "../../../shared/json.ts";

export type StoredMap<Value> = ReturnType<typeof openStoredMap<Value>>;

/**
 * Opens a map that a file keeps from one run to the next. A change is in the file once its call returns, even if the run is
 * killed then. With an invalid file, the map is empty.
 */
export function openStoredMap<Value>(file: string) {
  const stored = existsSync(file) ? parseJson(readFileSync(file, "utf8")) : undefined;
  const values = new Map<string, Value>(Object.entries(Object(stored)));
  const store = () => {
    const text = JSON.stringify(Object.fromEntries(values), null, 2);
    writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  return {
    get: (key: string): Value | undefined => values.get(key),
    /** In the order in which their keys were first set. */
    values: (): readonly Value[] => [...values.values()],
    set(...entries: readonly (readonly [key: string, value: Value])[]): void {
      for (const [key, value] of entries) values.set(key, value);
      store();
    },
    delete(key: string): void {
      values.delete(key);
      store();
    },
  };
}
