import { encodeTime } from "ulid";
import { expect, test } from "vitest";
import { rowToLead } from "../../../../lib/ops/leads/file/row-to-lead.ts";
import { maxIdAhead } from "../../../../shared/ids.ts";

const now = Date.UTC(2026, 0, 1);
const idAt = (time: number) => `lead_${encodeTime(time, 10)}${"0".repeat(16)}`;
const timeAt = (time: number) => new Date(time).toISOString();

const check = (value: unknown, update = false, lines = new Map<string, number>()) =>
  rowToLead({ value, line: 1, sha256: "" }, 5, { startedAt: now, update, lines });

/** The fields and codes of what is wrong with a lead; empty if it can be imported. */
function faultsOf(fields: object, ...others: [update?: boolean, lines?: Map<string, number>]) {
  const checked = check({ name: "Ada", ...fields }, ...others);
  return "faults" in checked ? checked.faults.map(({ field, code }) => `${field} ${code}`) : [];
}

test.each([
  {},
  ...[0, 1, 99, 100].map((score) => ({ score })),
  ...[0, now - 1, now, now + maxIdAhead].map((time) => ({ id: idAt(time) })),
  ...[0, now, now + maxIdAhead].map((time) => ({ createdAt: timeAt(time) })),
  { id: idAt(now - 5), createdAt: timeAt(now - 5) },
  { externalId: "+49.170/x", metadata: { plan: "pro" } },
  { addresses: { WhatsApp: ["+49 170 1", "0049 170 1", "DE.1"], sms: ["0177 1"] } },
  ...["#1", "#VIP", "C# Ltd!"].map((name) => ({ name })),
  ...["2026-01-01 00:00", 5, null].map((updatedAt) => ({ updatedAt })),
])("a lead with %j can be imported", (fields) => {
  expect(faultsOf(fields)).toEqual([]);
});

test.each([
  ...[-1, 101].map((score) => [{ score }, "score out_of_range"] as const),
  ...[1.5, Number.NaN, "5", null].map((score) => [{ score }, "score wrong_type"] as const),
  ...["", "lead_1", idAt(now).toLowerCase(), `${idAt(now)}0`, idAt(now).replace("lead", "conv")].map(
    (id) => [{ id }, "id invalid_format"] as const,
  ),
  [{ id: 5 }, "id wrong_type"],
  [{ id: idAt(now + maxIdAhead + 1) }, "id out_of_range"],
  ...["", "2026-01-01", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00"].map(
    (createdAt) => [{ createdAt }, "createdAt invalid_format"] as const,
  ),
  ...[5, null].map((createdAt) => [{ createdAt }, "createdAt wrong_type"] as const),
  [{ createdAt: timeAt(-1) }, "createdAt out_of_range"],
  [{ createdAt: timeAt(now + maxIdAhead + 1) }, "createdAt out_of_range"],
  [{ id: idAt(now - 5), createdAt: timeAt(now - 4) }, "createdAt not_allowed"],
  [{ phone: "1" }, "phone unknown"],
  [{ name: undefined }, "name required"],
  [{ externalId: "a b" }, "externalId invalid_characters"],
  [{ addresses: { sms: ["a b"] } }, "addresses[sms][0] invalid_characters"],
  [{ externalId: "1.55501E+10" }, "externalId invalid_format"],
  [{ addresses: { sms: ["+1", "4.91772e+11"] } }, "addresses invalid_format"],
  [{ addresses: { WhatsApp: ["+49 170 1", "(0177) 1234567"] } }, "addresses[whatsapp] invalid_format"],
  ...["#NV", "#N/A", "#BEZUG!", "#DIV/0!", "#NAME?"].map(
    (name) => [{ name }, "name invalid_format"] as const,
  ),
  [{ addresses: { sms: ["#REF!"] } }, "addresses invalid_format"],
  [{ addresses: { "s:ms": ["1"] } }, "addresses[s:ms] invalid_characters"],
  [{ addresses: { sms: Array(6).fill("1"), web: Array(5).fill("1") } }, "addresses too_many"],
  [{ metadata: JSON.parse('{"__proto__":"y"}') }, "metadata forbidden_key"],
  [{ metadata: { a: "é".repeat(200), b: "é".repeat(200), c: "é".repeat(200) } }, "metadata too_large"],
] as const)("a lead with %j is refused: %s", (fields, fault) => {
  expect(faultsOf(fields)).toEqual([fault]);
});

const addresses = { sms: ["(0) 1"] };

test("with --update, a row that names its lead needs no name", () => {
  for (const named of [{ externalId: "crm-1" }, { id: idAt(now) }, { addresses }]) {
    const nameless = { name: undefined, ...named };
    expect(faultsOf(nameless)).toEqual(["name required"]);
    expect(faultsOf(nameless, true)).toEqual([]);
  }
  expect(faultsOf({ name: undefined }, true)).toEqual(["name required"]);
});

test("only one valid row of a file can have the same id, external id or address", () => {
  const lines = new Map<string, number>();
  for (const [fields, faults, update = false] of [
    [{ externalId: "crm-1", score: 101 }, ["score out_of_range"]],
    [{ externalId: "crm-1" }, []],
    [{ externalId: "crm-1" }, [" repeated"]],
    [{ addresses }, []],
    [{ externalId: "crm-2", addresses: { SMS: ["2", "01"] } }, [" repeated"]],
    [{ externalId: "crm-2", addresses: { web: ["01"] } }, []],
    [{ id: idAt(now) }, [], true],
    [{ id: idAt(now) }, [" repeated"], true],
    [{ id: idAt(now) }, [" repeated"]],
    [{}, []],
    [{}, []],
  ] as const)
    expect(faultsOf(fields, update, lines)).toEqual(faults);
});

test.each([null, [], "Ada", 5])("%j is no lead", (value) => {
  expect(check(value)).toHaveProperty("faults.0.code", "wrong_type");
});

test("a row is stored in the form in which the API stores a lead", () => {
  const ada = { name: "Ada", source: "\u200bFair\u00a0", addresses, metadata: {} };
  const lead = { ...ada, source: "fair", score: 0, status: "new", tags: [] };
  expect(check(ada)).toMatchObject({ lead, time: now - 5 });
});
