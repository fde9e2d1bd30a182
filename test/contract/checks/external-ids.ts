import { randomInt, randomUUID } from "node:crypto";
import { type Account, atOnce, conversations, leads, type Message, type Row, unique } from "../account.ts";
import { promises } from "../check.ts";
import { expectMatch, expectResponse } from "../expectations.ts";
import { expectFaults } from "./faults.ts";

/** Updates a lead. */
const update = (account: Account, fields: object, key: string = randomUUID()) =>
  account.post(`${leads}?ifExists=update`, fields, { "idempotency-key": key });

const web = (...addresses: string[]) => ({ addresses: { web: addresses } });

const entries = (count: number, text = "x") =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, text]));

export const externalIdChecks = [
  ...promises("docs/usage.md#external-ids-addresses-and-updates", {
    "An externalId belongs to one lead of an account: 409 has the id of this lead": async ({
      mine,
      other,
    }) => {
      const externalId = unique("ÄÖ/#+%&=");
      const { id } = await mine.createLead({ externalId });
      await mine.expectNothingStored(async () => {
        const body = { code: "lead_exists", status: 409, id };
        expectResponse(await mine.post(leads, { name: "Eve", externalId }), { status: 409, body });
      });
      const foreign = await other.createLead({ externalId });
      await mine.expectRows(leads, { externalId }, [id]);
      await other.expectRows(leads, { externalId }, [foreign.id]);
      await mine.expectRows(leads, { externalId: externalId.toUpperCase() }, []);
    },
    "Leads that are sent at the same moment with one externalId are stored once": async ({ mine }) => {
      const [externalId, before] = [unique("once"), await mine.count(leads)];
      const responses = await atOnce(10, () => mine.post(leads, { name: "Ada", externalId }));
      const ids = new Set(responses.map(({ body }) => (body as Row).id));
      const statuses = responses.map(({ status }) => status).sort();
      expectMatch("the statuses", [ids.size, ...statuses], [1, 201, ...Array(9).fill(409)]);
      expectMatch("the total of leads", await mine.count(leads), before + 1);
    },
    "An address belongs to one lead of an account, in any spelling: 409 has the id of this lead": async ({
      mine,
      other,
    }) => {
      const [number, handle] = [String(randomInt(1e12, 9e12)), unique("Handle@")];
      const [whatsapp, email] = [[`+49 (${number})`], [handle]];
      const lead = await mine.createLead({ addresses: { WhatsApp: whatsapp, email } });
      expectMatch("the lead", lead, { addresses: { whatsapp, email } });
      const { id } = lead;
      const same = [{ whatsapp: [`49${number}`] }, { EMAIL: ["x", handle.toLowerCase()] }];
      await mine.expectNothingStored(async () => {
        const body = { code: "lead_exists", status: 409, id };
        for (const addresses of same)
          expectResponse(await mine.post(leads, { name: "Eve", addresses }), { status: 409, body });
      });
      const foreign = await other.createLead({ addresses: same[0] });
      const address = `whatsapp:+49.${number},sms:49${number},email:${handle.toUpperCase()}`;
      await mine.expectRows(leads, { address }, [id]);
      await other.expectRows(leads, { address }, [foreign.id]);
      expectFaults(await mine.get(`${leads}?address=${number}`), ["query address invalid_format"]);
    },
    "An update changes the lead with its id, its externalId or an address, and adds the other names to it":
      async ({ mine }) => {
        const [externalId, one, two] = [unique("later"), unique("one"), unique("two")];
        const { id } = await mine.createLead(web(one));
        for (const fields of [
          { id, ...web(two) },
          { externalId, ...web(two) },
          { externalId, score: 1 },
        ])
          expectResponse(await update(mine, fields), { status: 200, body: { id, ...web(one, two) } });
        const body = { id, externalId, addresses: undefined };
        expectResponse(await update(mine, { id, addresses: { web: null } }), { status: 200, body });
        await mine.expectRows(leads, { address: `web:${one},web:${two}` }, []);
        expectFaults(await update(mine, web(one)), ["body name required"]);
      },
    "An update whose names belong to two leads returns 409, and one with an unknown id 404": async ({
      mine,
    }) => {
      const [externalId, address] = [unique("one"), unique("two")];
      const { id } = await mine.createLead({ externalId });
      const { id: other } = await mine.createLead(web(address));
      const unknown = `lead_${"0".repeat(26)}`;
      for (const [fields, status, body] of [
        [{ externalId, ...web(address) }, 409, { code: "lead_exists", id: other }],
        [{ id: other, externalId }, 409, { code: "lead_exists", id }],
        [{ id, externalId: unique("another") }, 409, { code: "lead_exists", id }],
        [{ id: unknown, externalId, ...web(address) }, 404, { code: "lead_not_found" }],
      ] as const)
        expectResponse(await update(mine, { name: "Eve", ...fields }), { status, body });
      const { data } = await mine.list(leads, { id: `${id},${other}` });
      expectMatch("the names", data, Array(2).fill({ name: "Contract check" }));
    },
    "With ifExists=update, the fields that are sent are changed, and null removes a field": async ({
      mine,
    }) => {
      const [externalId, source] = [unique("update"), unique("Source")];
      const first = { email: "ada@example.com", source: "web", tags: ["a"], metadata: { a: "1", b: "2" } };
      const lead = await mine.createLead({ externalId, ...first });
      const changes = { name: "Eve", status: "qualified", score: 60, tags: ["c", "b"] };
      const sent = { externalId, ...changes, source, email: null, metadata: { a: null, c: "3" } };
      const metadata = { a: undefined, b: "2", c: "3" };
      const removed = { email: undefined, metadata };
      const expected = { ...lead, ...changes, source: source.toLowerCase(), ...removed, updatedAt: /Z$/ };
      const body = expectResponse(await update(mine, sent), { status: 200, body: expected });
      // The same update again changes nothing, not even the time of the last change.
      expectResponse(await update(mine, sent), { status: 200, body });
      expectMatch("the lead by its id", (await mine.list(leads, { id: lead.id })).data, [body]);
      await mine.expectIndexed(leads, { source, status: "qualified" }, [lead.id]);
    },
    "With ifExists=update, a lead that does not exist is created, and needs a name": async ({ mine }) => {
      const externalId = unique("create");
      expectFaults(await update(mine, { externalId }), ["body name required"]);
      const body = { externalId, name: "Ada", status: "booked", score: 5 };
      expectResponse(await update(mine, { ...body, email: null }), { status: 201, body });
      const other = await mine.post(`${leads}?ifExists=replace`, body);
      expectFaults(other, ["query ifExists not_allowed"]);
    },
    "An update with the same Idempotency-Key returns its first response again": async ({ mine }) => {
      const [externalId, key] = [unique("replay"), randomUUID()];
      await mine.createLead({ externalId });
      const { body } = await update(mine, { externalId, score: 1 }, key);
      const { body: last } = await update(mine, { externalId, score: 2 });
      const headers = { "idempotency-replayed": "true" };
      expectResponse(await update(mine, { externalId, score: 1 }, key), { status: 200, headers, body });
      expectMatch("the lead", (await mine.list(leads, { externalId })).data, [last]);
    },
    "Leads are found by up to 100 external ids at once, together with other filters": async ({ mine }) => {
      const [one, two] = [unique("a"), unique("b")];
      const { id } = await mine.createLead({ externalId: one, source: "web" });
      const { id: second } = await mine.createLead({ externalId: two, source: "fair" });
      const externalId = [one, two, one, ...Array(97).fill("x")].join();
      await mine.expectRows(leads, { externalId }, [second, id]);
      await mine.expectRows(leads, { externalId, id }, [id]);
      await mine.expectRows(leads, { externalId, source: "FAIR", status: "new" }, [second]);
      expectFaults(await mine.get(`${leads}?externalId=${externalId},x`), ["query externalId too_many"]);
    },
  }),
  ...promises("docs/usage.md#metadata", {
    "The metadata of leads and messages is returned as it was sent": async ({ mine }) => {
      const metadata = { " Zo\u00eb\u200d ": "a\n\tb", ["\u{1F600}".repeat(40)]: "\u{1F600}".repeat(200) };
      const { id: leadId } = await mine.createLead({ metadata });
      expectMatch("the lead", (await mine.list(leads, { id: leadId })).data, [{ metadata }]);
      const body = { leadId, channel: "web", message: "Hello", metadata };
      const sent = await mine.post(conversations, body);
      const { conversationId: id } = expectResponse<Message>(sent, { status: 201, body });
      const { data } = await mine.list(conversations, { id, include: "messages" });
      expectMatch("the messages", data, [{ messages: [sent.body] }]);
    },
    "Metadata has at most 10 names and 1,024 bytes, also after an update": async ({ mine }) => {
      const externalId = unique("metadata");
      await mine.createLead({ externalId, metadata: entries(10, "x".repeat(93)) });
      for (const metadata of [{ n0: "x".repeat(107) }, { other: "x" }])
        expectFaults(await update(mine, { externalId, metadata }), ["body metadata too_large"]);
      expectResponse(await update(mine, { externalId, metadata: { n0: null, other: "x" } }), { status: 200 });
    },
  }),
];
