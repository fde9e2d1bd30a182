import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { accountsCommand } from "../../../lib/ops/accounts/accounts-command.ts";
import { apiCommand } from "../../../lib/ops/api/api-command.ts";
import { conversationsCommand } from "../../../lib/ops/conversations/conversations-command.ts";
import { countsCommand } from "../../../lib/ops/counts/counts-command.ts";
import { eventsCommand } from "../../../lib/ops/events/events-command.ts";
import { keysCommand } from "../../../lib/ops/keys/keys-command.ts";
import { leadsCommand } from "../../../lib/ops/leads/leads-command.ts";

const root = join(import.meta.dirname, "../../..");
const commands = [
  keysCommand(),
  leadsCommand(),
  conversationsCommand(),
  countsCommand(),
  eventsCommand(),
  accountsCommand(),
  apiCommand(),
];
const find = (all: readonly Command[], name: string | undefined) =>
  all.find((command) => command.name() === name);

/** A command up to the end of its line or its code, or to where its output goes. */
const example = /\bnpm run (?:--silent )?ops -- ([a-z].*?)(?=`| [|>]|$)/gm;

const documented = globSync("{README,SECURITY,docs/*}.md", { cwd: root })
  .concat("docs/delivery/github-actions.yml")
  .flatMap((file) =>
    [
      ...readFileSync(join(root, file), "utf8")
        .replaceAll(/\\\n\s*/g, "")
        .matchAll(example),
    ].map(([, text = ""]) => ({ file, text })),
  );

test.each(documented)("$file: npm run ops -- $text is a command with these options", ({ text }) => {
  const [group, name] = text.split(/\s+/);
  const found = find(commands, group);
  const command = found?.commands.length ? find(found.commands, name) : found;
  expect(command).toBeDefined();
  const options = command?.options.map(({ long }) => long) ?? [];
  expect(options).toEqual(expect.arrayContaining(text.match(/--[a-z-]+/g) ?? []));
});

test("The pages have examples of each group", () => {
  const groups = new Set(documented.map(({ text }) => text.split(" ")[0]));
  expect([...groups].sort()).toEqual(commands.map((command) => command.name()).sort());
});
