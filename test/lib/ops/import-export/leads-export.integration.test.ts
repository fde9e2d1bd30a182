import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { access, readFile, stat, symlink } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { filePath, leadFile, readLines, storedLeads } from "../../../support/lead-files.ts";
import { createDataDirectory, ops as runOps } from "../../../support/ops.ts";
import { aLead } from "../../../support/requests.ts";

const dataDirectory = await createDataDirectory();
const ops = (account: string, ...args: string[]) =>
  runOps(["leads", ...args, "--account", account, "--local"], { dataDirectory });

/** Creates leads with special characters of the file formats. */
async function oddLeads(account: string) {
  await aLead(account, { name: '"Ada", Lovelace', email: "ada@example.com", source: "web" });
  await aLead(account, { name: "=1+1", source: "a,b", tags: ["-x", "@y", "é ☎"] });
  await aLead(account, { name: "'quoted'", tags: ["a;b", " c "] });
  await aLead(account, { name: "Brackets", tags: ["[1]"] });
  return storedLeads(account);
}

describe("leads export", () => {
  test("prints CSV as RFC 4180 defines it, newest first", async () => {
    const account = randomUUID();
    const [ada, formula, quoted, brackets] = await oddLeads(account);
    const { code, stdout, stderr } = await ops(account, "export");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\r\n")).toEqual([
      "id,name,email,score,status,source,tags,createdAt",
      `${brackets?.id},Brackets,,0,new,,"[""[1]""]",${brackets?.createdAt}`,
      `${quoted?.id},'quoted',,0,new,,"[""a;b"","" c ""]",${quoted?.createdAt}`,
      `${formula?.id},=1+1,,0,new,"a,b",-x;@y;é ☎,${formula?.createdAt}`,
      `${ada?.id},"""Ada"", Lovelace",ada@example.com,0,new,web,,${ada?.createdAt}`,
      "",
    ]);
  });

  test.each(["csv", "jsonl"])("writes %s that an import restores without loss", async (format) => {
    const [here, there] = [randomUUID(), randomUUID()];
    const leads = await oddLeads(here);
    const output = filePath(`.${format}`);
    const { stdout } = await ops(here, "export", "--format", format, "--output", output, "--json");
    expect(JSON.parse(stdout)).toEqual({ account: here, exported: 4, output });
    expect((await stat(output)).mode & 0o777).toBe(0o600);
    await expect(access(`${output}.part`)).rejects.toThrow("ENOENT");
    expect((await ops(there, "import", output)).code).toBe(0);
    expect(await storedLeads(there)).toEqual(leads);
    expect((await ops(here, "import", output)).stdout).toContain("0 imported, 4 already imported");
  });

  test("combines filters and reads many pages, oldest first", async () => {
    const account = randomUUID();
    const rows = Array.from({ length: 2500 }, (_, i) => {
      // So few rows of a source are not counted by the import, which would have to wait for the index.
      const [status, source] = [["new", "booked"][i % 2], i % 85 === 7 ? "fair" : `source-${i % 250}`];
      return `Lead ${i},${status},${source}\n`;
    });
    const path = await leadFile(`name,status,source\n${rows.join("")}`);
    await ops(account, "import", path, "--rate", "100000");
    const output = filePath(".jsonl");
    const to = ["--output", output];
    await ops(account, "export", ...to, "--oldest-first", "--status", "booked", "--source", "fair");
    const wanted = rows.map((_, i) => i).filter((i) => i % 2 === 1 && i % 85 === 7);
    expect((await readLines(output)).map(({ name }) => name)).toEqual(wanted.map((i) => `Lead ${i}`));
    await ops(account, "export", ...to);
    const names = (await readLines(output)).map(({ name }) => name);
    expect(names).toEqual(rows.map((_, i) => `Lead ${i}`).reverse());
  }, 120_000);

  test("--escape-formulas escapes formulas; without leads only the header is printed", async () => {
    const account = randomUUID();
    expect((await ops(account, "export")).stdout).toBe(
      "id,name,email,score,status,source,tags,createdAt\r\n",
    );
    await aLead(account, { name: "=1+1", source: "@fair" });
    expect((await ops(account, "export", "--escape-formulas")).stdout).toContain(",'=1+1,,0,new,'@fair,,");
  });

  test("leaves an existing file unchanged and no temporary file when it fails", async () => {
    const output = await leadFile("before", ".csv");
    const args = ["leads", "export", "--account", "a", "--table", "no-such-table", "--output", output];
    const { code, stderr } = await runOps(args, { dataDirectory });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^There is no table no-such-table/),
    });
    expect(await readFile(output, "utf8")).toBe("before");
    expect(existsSync(`${output}.part`)).toBe(false);
  });

  test.skipIf(!existsSync("/dev/full"))("reports a full disk in one sentence", async () => {
    const output = filePath(".csv");
    await symlink("/dev/full", `${output}.part`);
    expect(await ops("a", "export", "--output", output)).toEqual({
      code: 1,
      stdout: "",
      stderr: `${output} cannot be written: ENOSPC: no space left on device, write\n`,
    });
    expect(existsSync(output) || existsSync(`${output}.part`)).toBe(false);
  });

  test("--json needs --output", async () => {
    const { code, stderr } = await ops("a", "export", "--json");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "--json needs --output, because stdout has the leads.\n",
    });
  });
});
