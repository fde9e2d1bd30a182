import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { anAccount, filePath } from "../../../support/commands/lead-files.ts";
import { listening } from "../../../support/requests/listening.ts";
import { aLead } from "../../../support/requests/requests.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { program } from "../support/program.ts";

useTablesOfCommands();

const ops = (account: string, ...args: string[]) =>
  program(["leads", ...args, "--account", account, "--table", tableName]);

/** Exports the leads of an account. @returns the file's content */
async function exported(account: string): Promise<string> {
  const output = filePath(".csv");
  expect(await ops(account, "export", "--output", output)).toMatchObject({ code: 0, stderr: "" });
  return readFile(output, "utf8");
}

/** The partial files that an export has left beside its path. */
const partialFiles = async (output: string) =>
  (await readdir(dirname(output))).filter((name) => name.startsWith(`${basename(output)}.`));

const exportTo = (output: string) =>
  ["bin/ops.ts", "leads", "export", "--account", "a", "--table", "unit"].concat("--output", output);

/** Starts a table that has the account, and then never responds. @returns the variables of a process that uses it */
async function silentTable() {
  const table = createServer();
  table.once("request", (_, response) => response.end('{"Item":{}}'));
  onTestFinished(() => {
    table.closeAllConnections();
    table.close();
  });
  const keys = { AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" };
  return { ...process.env, ...keys, AWS_ENDPOINT_URL_DYNAMODB: await listening(table) };
}

describe("leads export", () => {
  test("writes CSV as RFC 4180 defines it, newest first, with a quote before formulas", async () => {
    const account = await anAccount();
    const header = "id,externalId,name,email,score,status,source,tags,addresses,metadata,createdAt,updatedAt";
    expect(await exported(account)).toBe(`${header}\r\n`);
    const ada = await aLead(account, { name: '"Ada", Lovelace', email: "ada@example.com", source: "web" });
    const formula = await aLead(account, { name: "=1+1", source: "a,b", tags: ["-x", "@y", "é ☎"] });
    const quoted = await aLead(account, { name: "'quoted'", tags: ["a;b", " c "] });
    const named = { externalId: "+49", addresses: { sms: ["+1"] }, metadata: { größe: "=1" } };
    const brackets = await aLead(account, { name: "Brackets", tags: ["[1]"], ...named });
    const lines = [
      `${brackets.id},'+49,Brackets,,0,new,,"[""[1]""]","{""sms"":[""+1""]}","{""größe"":""=1""}",${brackets.createdAt},${brackets.createdAt}`,
      `${quoted.id},,'quoted',,0,new,,"[""a;b"","" c ""]",,,${quoted.createdAt},${quoted.createdAt}`,
      `${formula.id},,'=1+1,,0,new,"a,b",'-x;@y;é ☎,,,${formula.createdAt},${formula.createdAt}`,
      `${ada.id},,"""Ada"", Lovelace",ada@example.com,0,new,web,,,,${ada.createdAt},${ada.createdAt}`,
    ];
    // Leads of the same millisecond are in the order of their ids.
    const newestFirst = lines.toSorted().toReversed();
    expect((await exported(account)).split("\r\n")).toEqual([header, ...newestFirst, ""]);
  });

  test("leaves no partial file when a signal ends it", async () => {
    const output = filePath(".csv");
    const child = spawn(process.execPath, exportTo(output), { env: await silentTable(), stdio: "ignore" });
    // At once when there is a file, and again: a terminal's signal may reach the command twice, directly and from npm.
    const signals: boolean[] = [];
    const watcher = watch(dirname(output), (_, name) => {
      if (name?.startsWith(`${basename(output)}.`)) signals.push(child.kill("SIGINT"));
    });
    expect(await once(child, "exit")).toEqual([130, null]);
    watcher.close();
    expect(signals[0]).toBe(true);
    expect(await partialFiles(output)).toEqual([]);
  });

  test("reports in one sentence that it cannot write, and leaves nothing", async () => {
    const output = filePath(".csv");
    // The process may write only files of zero bytes.
    const limited = promisify(execFile)(
      "/bin/sh",
      ["-c", 'ulimit -f 0 && exec "$@"', "sh", process.execPath, ...exportTo(output)],
      { env: await silentTable() },
    );
    await expect(limited).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: `${output} cannot be written: EFBIG: file too large, write\n`,
    });
    expect(await partialFiles(output)).toEqual([]);
  });
});
