import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { watch } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { writeOutput } from "../../../../lib/ops/output/output-file.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { filePath, leadFile } from "../../../support/lead-files.ts";
import { listening } from "../../../support/listening.ts";
import { aLead } from "../../../support/requests.ts";
import { program } from "../support/program.ts";

const ops = (account: string, ...args: string[]) =>
  program(["leads", ...args, "--account", account, "--table", tableName]);

/** The files beside a path that an export to it has left. */
const partialFiles = async (output: string) =>
  (await readdir(dirname(output))).filter((name) => name.startsWith(`${basename(output)}.`));

describe("leads export", () => {
  test("prints CSV as RFC 4180 defines it, newest first, and formulas with a quote", async () => {
    const account = randomUUID();
    await issueApiKey(account);
    const header = "id,externalId,name,email,score,status,source,tags,metadata,createdAt";
    expect((await ops(account, "export")).stdout).toBe(`${header}\r\n`);
    const ada = await aLead(account, { name: '"Ada", Lovelace', email: "ada@example.com", source: "web" });
    const formula = await aLead(account, { name: "=1+1", source: "a,b", tags: ["-x", "@y", "é ☎"] });
    const quoted = await aLead(account, { name: "'quoted'", tags: ["a;b", " c "] });
    const named = { externalId: "+49", metadata: { größe: "=1" } };
    const brackets = await aLead(account, { name: "Brackets", tags: ["[1]"], ...named });
    const { code, stdout, stderr } = await ops(account, "export");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\r\n")).toEqual([
      header,
      `${brackets.id},'+49,Brackets,,0,new,,"[""[1]""]","{""größe"":""=1""}",${brackets.createdAt}`,
      `${quoted.id},,'quoted',,0,new,,"[""a;b"","" c ""]",,${quoted.createdAt}`,
      `${formula.id},,'=1+1,,0,new,"a,b",'-x;@y;é ☎,,${formula.createdAt}`,
      `${ada.id},,"""Ada"", Lovelace",ada@example.com,0,new,web,,,${ada.createdAt}`,
      "",
    ]);
    const other = randomUUID();
    await issueApiKey(other);
    expect((await ops(other, "import", await leadFile(stdout))).code).toBe(0);
    expect((await ops(other, "export")).stdout).toBe(stdout);
  });

  test("that ends early leaves the file that was there; a whole one replaces it, for its owner only", async () => {
    const path = await leadFile("before");
    await chmod(path, 0o644);
    const text = async function* () {
      yield "half";
      throw new Error("gone");
    };
    await expect(writeOutput(text(), path)).rejects.toThrow("gone");
    expect([await readFile(path, "utf8"), await partialFiles(path)]).toEqual(["before", []]);
    await writeOutput(["whole"], path);
    expect([await readFile(path, "utf8"), (await stat(path)).mode & 0o777]).toEqual(["whole", 0o600]);
  });

  test("follows no link: neither one at the path, nor one beside it", async () => {
    const account = randomUUID();
    await aLead(account, { name: "Ada" });
    const victim = await leadFile("kept", ".txt");
    const output = filePath(".csv");
    for (const path of [output, `${output}.part`]) await symlink(victim, path);
    expect((await ops(account, "export", "--output", output)).code).toBe(0);
    expect(await readFile(victim, "utf8")).toBe("kept");
    expect((await lstat(output)).isFile()).toBe(true);
    expect(await readFile(output, "utf8")).toContain(",Ada,");
  });

  test("leaves no partial file when a signal ends it", async () => {
    const output = filePath(".csv");
    // A table that has the account, and then never responds.
    const table = createServer();
    table.once("request", (_, response) => response.end('{"Items":[{}]}'));
    const AWS_ENDPOINT_URL_DYNAMODB = await listening(table);
    const child = spawn(
      process.execPath,
      ["bin/ops.ts", "leads", "export", "--account", "a", "--table", "unit", "--output", output],
      { env: { ...process.env, AWS_ENDPOINT_URL_DYNAMODB }, stdio: "ignore" },
    );
    // At once when there is a file, and again: a terminal's signal may reach the command twice, directly and from npm.
    const signals: boolean[] = [];
    const watcher = watch(dirname(output), (_, name) => {
      if (name?.startsWith(`${basename(output)}.`)) signals.push(child.kill("SIGINT"));
    });
    expect(await once(child, "exit")).toEqual([130, null]);
    watcher.close();
    expect(signals[0]).toBe(true);
    expect(await partialFiles(output)).toEqual([]);
    table.closeAllConnections();
    table.close();
  });

  test("reports in one sentence that it cannot write, and leaves nothing", async () => {
    const account = randomUUID();
    await issueApiKey(account);
    const output = filePath(".csv");
    // The largest file that the process may write has no bytes.
    const limited = promisify(execFile)(
      "/bin/sh",
      ["-c", 'ulimit -f 0 && exec "$@"', "sh", process.execPath, "bin/ops.ts", "leads", "export"].concat([
        ...["--account", account, "--table", tableName, "--output", output],
      ]),
    );
    await expect(limited).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: `${output} cannot be written: EFBIG: file too large, write\n`,
    });
    expect(await partialFiles(output)).toEqual([]);

    const directory = filePath(".csv");
    await mkdir(join(directory, "x"), { recursive: true });
    const { code, stderr } = await ops(account, "export", "--output", directory);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/ cannot be written: E(ISDIR|NOTEMPTY|EXIST)/)]);
    expect(await partialFiles(directory)).toEqual([]);
  });
});
