import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { runJson } from "../../../support/command.ts";
import { anAccount, leadFile, storedLeads } from "../../../support/lead-files.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";

/** What happens while an undo waits for requests that had found a lead. */
export const waiting = { meanwhile: async (): Promise<unknown> => undefined };

/** Skips the waits of the test file. */
export const skipWaitsOfUndo = () => skipWaits((time) => (time === 32_000 ? waiting.meanwhile() : undefined));

/** A new account with an import, and commands on it. */
export async function imported(content: string, ...options: string[]) {
  const account = await anAccount();
  const path = await leadFile(content);
  const run = (...args: string[]) => runJson(importCommand(), ...args, "--account", account);
  const { importId } = (await run(path, ...options)).output;
  waiting.meanwhile = async () => undefined;
  const leads = await storedLeads(account);
  const [ada = leads[0], ben = leads[0]] = leads;
  if (!ada || !ben) throw new Error("Nothing was imported.");
  const undo = (...options: string[]) => run("--undo", importId, "--yes", ...options);
  /** Ends an undo when it has marked the leads. */
  const undoHalf = async () => {
    waiting.meanwhile = () => Promise.reject(new Error("killed"));
    await undo();
    waiting.meanwhile = async () => undefined;
  };
  return { account, path, importId, ada, ben, leads, run, undo, undoHalf, again: () => run(path) };
}
