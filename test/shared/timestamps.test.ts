import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTimestamp } from "../../shared/timestamps.ts";

const noon = Date.UTC(2026, 0, 31, 12);

test.each([
  ["2026-01-31T12:00:00Z", noon],
  ["2026-01-31t12:00:00z", noon],
  ["2026-01-31T12:00:00.5Z", noon + 500],
  ["2026-01-31T12:00:00.123456789Z", noon + 123],
  ["2026-01-31T12:00:00.9999999999999999999Z", noon + 999],
  ["2026-01-31T12:00:00-00:00", noon],
  ["2026-01-31T14:30:00+02:30", noon],
  ["2026-01-30T23:59:00.001-12:01", noon + 1],
  ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
  ["0001-01-01T00:00:00Z", Date.parse("0001-01-01T00:00:00Z")],
  ["9999-12-31T23:59:59.999Z", Date.UTC(9999, 11, 31, 23, 59, 59, 999)],
])("reads %s", (text, time) => {
  expect(parseTimestamp(text)).toBe(time);
});

test.each([
  "",
  ..."2026-01-31 2026-01-31T12:00:00 2026-01-31T12:00Z 2026-01-31T12:00:00,5Z 2026-01-31T12:00:00.Z".split(
    " ",
  ),
  ..."2026-01-31T12:00:00+0100 2026-01-31T12:00:00+01 2026-01-31T12:00:00+24:00".split(" "),
  ..."2026-01-31T24:00:00Z 2026-01-31T23:59:60Z 2026-02-29T12:00:00Z 2026-04-31T12:00:00Z".split(" "),
  ..."2026-00-10T12:00:00Z 2026-01-00T12:00:00Z ٢٠٢٦-01-31T12:00:00Z".split(" "),
  ...["2026-01-31 12:00:00Z", " 2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z\n"],
])("does not read %j", (text) => {
  expect(parseTimestamp(text)).toBeUndefined();
});

test("reads every time in every offset as JavaScript does", () => {
  const minutes = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
  const date = fc.date({ min: new Date("0002-01-01"), max: new Date("9998-12-31"), noInvalidDate: true });
  fc.assert(
    fc.property(date, minutes, (date, offset) => {
      const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
      const [hours, rest] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
      const zone = [hours, rest].map((part) => String(part).padStart(2, "0")).join(":");
      expect(parseTimestamp(`${local}${offset < 0 ? "-" : "+"}${zone}`)).toBe(date.getTime());
    }),
  );
});
