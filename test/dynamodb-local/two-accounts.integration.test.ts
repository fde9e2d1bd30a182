import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limits } from "../../shared/pages/tree/tree-limits.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { request, startApi } from "../support/api.ts";
import { storedLeads } from "../support/lead-files.ts";
import { createDataDirectory, ops } from "../support/ops.ts";
import { noteSent } from "../support/sent.ts";

const leadCount = 10_000;

const statuses = ["new", "new", "new", "qualified", "booked"] as const;
const sources = ["website", "website", "instagram", "referral", "fair", "partner", undefined] as const;
const start = Date.UTC(2026, 0, 1);

/** A row a minute, of a status and a source. */
const rows = Array.from({ length: leadCount }, (_, n) => ({
  name: `Lead ${n}`,
  email: `lead-${n % 5000}@example.com`,
  status: statuses[n % statuses.length],
  source: sources[n % sources.length],
  createdAt: new Date(start + n * 60_000).toISOString(),
}));

const windowStart = new Date(start + 2000 * 60_000).toISOString();
const windowEnd = new Date(start + 5000 * 60_000).toISOString();
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

// `npm run test:dynamodb-local` sets the variable. The embedded engine has other tests of as many leads.
test.runIf(process.env.DYNAMODB_ENDPOINT)(
  "every page of two accounts of 10,000 leads has exactly its rows and an exact total, with each filter",
  {
    timeout: 1_800_000,
  },
  async () => {
    const api = await startApi({ streams: true, maxEnvironments: 4 });
    const dataDirectory = await createDataDirectory(api.tableName);
    const command = async (...args: string[]) => {
      const { code, stdout, stderr } = await ops([...args, "--local", "--json"], { dataDirectory });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout);
    };
    const file = join(dataDirectory, "leads.jsonl");
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

    const accounts = ["large-0", "large-1"];
    for (const account of accounts) {
      const { imported } = await command("leads", "import", file, "--account", account, "--rate", "100000");
      expect(imported).toBe(leadCount);
    }
    for (const account of accounts) {
      const { apiKey } = await api.issueKey(account);
      noteSent(apiKey);
      const counted = async () => (await command("counts", "status", "--account", account))[0];
      const options = { timeout: 600_000, interval: 2000 };
      await expect.poll(async () => (await counted()).tail, options).toBeLessThanOrEqual(limits.tail);
      const stored = (await storedLeads(account)).toReversed();
      expect(stored).toHaveLength(leadCount);
      expect(stored.map(({ name }) => name)).toEqual(rows.map(({ name }) => name).toReversed());
      for (const [query, matches] of filters) {
        const expected = stored.filter(matches);
        const listed: Lead[] = [];
        for (let page = 1; page <= Math.max(1, Math.ceil(expected.length / 100)); page++) {
          const pageQuery = [query, `limit=100&page=${page}`].filter(Boolean).join("&");
          const { status, body } = await request(api, "list-leads", { apiKey, query: pageQuery });
          expect([status, body.pagination]).toEqual([200, { page, limit: 100, total: expected.length }]);
          listed.push(...body.data);
        }
        expect(listed, query).toEqual(expected);
      }
      expect(await command("counts", "verify", "--account", account)).toEqual([]);
    }
  },
);
