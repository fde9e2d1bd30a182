import { setTimeout } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { accountPartition } from "../../shared/dynamodb/keys.ts";
import { fieldsOf } from "../../shared/schemas/record.ts";
import { call } from "../support/call.ts";
import { part } from "../support/part.ts";
import { seeded } from "../support/random.ts";
import { failAtRandom, lateAttempts } from "../support/table-faults.ts";
import { tableItems } from "../support/table-items.ts";

const externalId = "crm-1";
const ifExists = "ifExists=update";

/** Sends a request again while the table is too busy for it, as clients do. */
async function send(account: string, query: string, fields: object, key = "") {
  const request = { account, query, body: { externalId, ...fields } };
  for (let tries = 0; tries < 60; tries++) {
    const response = await call("create-lead", {
      ...request,
      ...(key && { headers: { "idempotency-key": key } }),
    });
    if (response.status !== 429 && response.status !== 503) return response;
    await setTimeout(100 * Math.random());
  }
  throw new Error("The request was never answered.");
}

/** The one lead of an account, which has the external id. */
async function onlyLead(account: string) {
  const items = [...(await tableItems()).values()];
  const [leads = [], named = []] = (["lead", "externalId"] as const).map((type) =>
    items.filter(({ pk }) => pk === accountPartition(type, account)),
  );
  expect(leads).toHaveLength(1);
  expect(named.map(({ sk, leadId }) => [sk, leadId])).toEqual([[externalId, leads[0]?.id]]);
  return fieldsOf(leads[0] ?? {});
}

test.each(
  part([1, 2, 3], 3),
)("no acknowledged update is lost, whatever fails at random (seed %i)", async (seed) => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const random = seeded(seed);
  failAtRandom(random);
  // Every object has something with the first two.
  const names = ["constructor", "toString", "a/b", "~", "ü", "x"];
  await Promise.all(
    names.map(async (name, client) => {
      for (let n = 0; n < 8; n++) {
        const fields = { name: `${client}`, metadata: { [name]: `${n}` } };
        const { body } = await send(`lost-${seed}`, ifExists, fields, random() < 0.5 ? `${client}-${n}` : "");
        expect(body.metadata?.[name], JSON.stringify(body)).toBe(`${n}`);
      }
    }),
  );
  await lateAttempts();
  vi.restoreAllMocks();
  const { metadata } = await onlyLead(`lost-${seed}`);
  expect(metadata).toEqual(Object.fromEntries(names.map((name) => [name, "7"])));
});
