import { beforeEach, expect, test } from "vitest";
import { newId } from "../../../shared/ids.ts";
import { call, decodedBody, invokeHandler } from "../../support/requests/call.ts";
import { routeEvent, type TestRequest } from "../../support/requests/events.ts";
import { storedLead } from "../../support/tables/stored.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const leadIds = Array.from({ length: 20 }, (_, n) => newId("lead", Date.UTC(2026, 0, 1) + n));

const { memory } = useTable();
beforeEach(() => {
  for (const id of leadIds) memory.put(storedLead(id));
});

const accepting = (request: TestRequest, encoding: string): TestRequest => ({
  ...request,
  headers: { ...request.headers, "accept-encoding": encoding },
});

test.each([
  ["gzip", ["GZIP", "*;q=0, gzip", "gzip;q=0.5, identity;q=0.5", ",,gzip,"]],
  ["gzip", ["gzip, deflate, br, zstd", " br ;q=1.0 ,\tgzip ; q=0.5 ", "gzip;x=1;q=0.5"]],
  [undefined, ["", "identity", "deflate, br;q=1.0", "x-gzip", '"gzip"', "identity;q=0, *;q=0"]],
  [undefined, ["gzip;q=0", "gzip;Q=0.00", "gzip;x=1;q=0", "gzip;q=0, *", "*;q=0"]],
])("the encoding of a page is %s for %j", async (encoding, accepted) => {
  for (const header of accepted) {
    const { headers } = await call("list-leads", accepting({}, header));
    expect([header, headers["content-encoding"]]).toEqual([header, encoding]);
  }
});

test.each([
  "a",
  "\u00e9",
])("a body is compressed from 1,024 bytes on, however many characters it has: %s", async (unit) => {
  const tags = Array(11).fill("x".repeat(64));
  const create = (name: string) =>
    invokeHandler("create-lead", routeEvent("create-lead", accepting({ body: { name, tags } }, "gzip")));
  const others = Buffer.byteLength((await create("a")).body ?? "") - 1;
  for (const bytes of [1023, 1024]) {
    const [rest, size] = [bytes - others, Buffer.byteLength(unit)];
    const response = await create(unit.repeat(Math.floor(rest / size)) + "a".repeat(rest % size));
    expect(Buffer.byteLength(decodedBody(response))).toBe(bytes);
    expect(response.headers?.["content-encoding"]).toBe(bytes < 1024 ? undefined : "gzip");
  }
});
