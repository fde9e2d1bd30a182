import { expect, test } from "vitest";
import { parseTime, toIsoForm } from "../../../../lib/ops/leads/file/creation-time.ts";

test.each([
  ["2024-07-11T21:22:06.000+0000", undefined, "2024-07-11T21:22:06.000Z"],
  ["2024-07-11t21:22:06.5z", "Europe/Berlin", "2024-07-11T21:22:06.500Z"],
  ["2024-07-11 21:22:06 UTC", undefined, "2024-07-11T21:22:06.000Z"],
  ["2024-07-11 21:22 -0330", undefined, "2024-07-12T00:52:00.000Z"],
  ["2024-07-11T21:22:06+02", undefined, "2024-07-11T19:22:06.000Z"],
  ["2024-07-11 21:22:06.123", "Asia/Kolkata", "2024-07-11T15:52:06.123Z"],
  ["2024-08-18", "Europe/Berlin", "2024-08-17T22:00:00.000Z"],
  ["2024-01-18", "+02:00", "2024-01-17T22:00:00.000Z"],
  // This day starts at one o'clock in São Paulo. The clock of Berlin skips an hour, or shows one twice.
  ["2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00.000Z"],
  ["2024-03-31 02:30:00", "Europe/Berlin", "2024-03-31T01:30:00.000Z"],
  ["2024-10-27 02:30:00", "Europe/Berlin", "2024-10-27T00:30:00.000Z"],
] as const)("%j, with the zone %s, is %s", (text, zone, time) => {
  expect(new Date(parseTime(text, zone) ?? 0).toISOString()).toBe(time);
});

test.each([
  "2024-08-18",
  "2024-08-18T10:00:00",
  "2024-02-30T00:00:00Z",
  "2024-08-18T25:00Z",
  "8/18/2024",
])("%j has no time without a zone", (text) => expect(parseTime(text)).toBeUndefined());

test.each([
  ["15.03.2024 um 10 Uhr z", "d.M.yyyy 'um' H 'Uhr z'", "2024-03-15T10:00:00.000"],
  ["15.03.2024 10:00 +02:00", "d.M.yyyy H:mm ZZ", "2024-03-15T08:00:00.000Z"],
  ["2024-03-15", "d.M.yyyy", "2024-03-15"],
])("%j, in the format %j, is %s", (text, format, time) => expect(toIsoForm(text, format)).toBe(time));
