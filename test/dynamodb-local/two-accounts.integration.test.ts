import { BatchWriteCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { expect, test } from "vitest";
import { leadItem } from "../../shared/domain/leads.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { request, startApi } from "../support/api.ts";
import { createDataDirectory, ops } from "../support/ops.ts";
import { noteSent } from "../support/sent.ts";

const leadCount = 10_000;
const accounts = ["large-0", "large-1"];

const statuses = ["new", "new", "new", "qualified", "booked"] as const;
const sources = ["website", "website", "instagram", "referral", "fair", "partner"] as const;
const start = Date.UTC(2026, 0, 1);
const minute = 60_000;

/** Leads that were created a minute apart, newest first. Those of another account have other ids and names. */
const createLeads = (account: string) =>
  Array.from({ length: leadCount }, (_, n): Lead => {
    const time = start + n * minute;
    return {
      id: `lead_${ulid(time)}`,
      name: `Lead ${n} of ${account}`,
      email: `lead-${n % 5000}@example.com`,
      score: 0,
      status: statuses[n % statuses.length] ?? "new",
      source: sources[n % sources.length] ?? "website",
      tags: [],
      createdAt: new Date(time).toISOString(),
    };
  }).reverse();

/** Writes leads as an import does, without events. */
async function writeLeads(account: string, leads: readonly Lead[]): Promise<void> {
  const imported = new Date().toISOString();
  for (let first = 0; first < leads.length; first += 25) {
    const puts = leads
      .slice(first, first + 25)
      .map((lead) => ({ PutRequest: { Item: { ...leadItem(account, lead), imported } } }));
    const { UnprocessedItems } = await table.send(
      new BatchWriteCommand({ RequestItems: { [tableName]: puts } }),
    );
    expect(UnprocessedItems).toEqual({});
  }
}

const windowStart = new Date(start + 2000 * minute).toISOString();
const windowEnd = new Date(start + 5000 * minute).toISOString();
const isInWindow = ({ createdAt }: Lead) => createdAt >= windowStart && createdAt < windowEnd;

const filters: readonly (readonly [query: string, matches: (lead: Lead) => boolean])[] = [
  ["", () => true],
  ["status=new", ({ status }) => status === "new"],
  ["source=website", ({ source }) => source === "website"],
  ["status=booked&source=fair", ({ status, source }) => status === "booked" && source === "fair"],
  [`createdAfter=${windowStart}&createdBefore=${windowEnd}`, isInWindow],
  [
    `status=new&source=website&createdAfter=${windowStart}&createdBefore=${windowEnd}`,
    (lead) => lead.status === "new" && lead.source === "website" && isInWindow(lead),
  ],
  ["email=lead-42@example.com", ({ email }) => email === "lead-42@example.com"],
  ["status=qualified&source=nobody", () => false],
];

// `npm run test:dynamodb-local` sets the variable.
test.runIf(process.env.DYNAMODB_ENDPOINT)(
  "every page of two accounts of 10,000 leads is exact, with each filter",
  {
    timeout: 1_800_000,
  },
  async () => {
    const api = await startApi({ streams: true, maxEnvironments: 4 });
    const dataDirectory = await createDataDirectory(api.tableName);
    const countsOf = async (account: string, command: string) => {
      const args = ["counts", command, "--account", account, "--local", "--json"];
      const { code, stdout, stderr } = await ops(args, { dataDirectory });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout);
    };
    const lists = new Map(accounts.map((account) => [account, createLeads(account)]));
    for (const [account, leads] of lists) await writeLeads(account, leads);

    let pages = 0;
    for (const [account, leads] of lists) {
      // Lists count rows with an earlier time when the stream delivers them, as those of an import.
      const known = async () => {
        const [{ counted, tail }] = await countsOf(account, "status");
        return counted + tail;
      };
      await expect.poll(known, { timeout: 600_000, interval: 2000 }).toBe(leadCount);
      const { apiKey } = await api.issueKey(account);
      noteSent(apiKey);
      const list = async (query: string) => {
        let response = await request(api, "list-leads", { apiKey, query });
        const repeat = async () => {
          if (response.status >= 500) response = await request(api, "list-leads", { apiKey, query });
          return response.status;
        };
        // A busy machine may need another try.
        await expect.poll(repeat, { interval: 1000 }).toBe(200);
        return response.body;
      };
      for (const [filter, matches] of filters) {
        const expected = leads.filter(matches);
        const listed: Lead[] = [];
        for (let page = 1; page <= Math.max(1, Math.ceil(expected.length / 100)); page++, pages++) {
          const { data, pagination } = await list(`${filter}&limit=100&page=${page}`.replace(/^&/, ""));
          expect(pagination).toEqual({ page, limit: 100, total: expected.length });
          listed.push(...data);
        }
        expect(listed, filter).toEqual(expected);
      }
      expect(await countsOf(account, "verify")).toEqual([]);
    }
    console.log(`${pages} pages of ${accounts.length} accounts with ${leadCount} leads each are exact.`);
  },
);
