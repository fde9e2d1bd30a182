import { expect, test } from "vitest";
import { formatColumns } from "../../../../lib/ops/common/columns.ts";

test("rows are aligned columns, numbers to the right, without empty columns and control characters", () => {
  const rows = [
    { account: "acme", leads: 1000, label: undefined, note: "web\u001b[31m" },
    { account: "a", leads: 7, label: "", note: undefined },
  ];
  expect(formatColumns(rows)).toBe(
    String.raw`
account  leads  note
acme      1000  web\u001b[31m
a            7`.slice(1),
  );
});
