import { writeFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { run } from "../../lib/command-line.ts";
import { toUserError } from "../../lib/ops/output/aws-errors.ts";
import { UserError } from "../../lib/user-error.ts";
import { accept, phases, quickPhases } from "./acceptance.ts";
import { open, type Target } from "./open.ts";
import { countVerdicts, terminalTable } from "./report.ts";

const command = new Command("npm run accept --")
  .description(
    "Compares a deployed stage with what the documentation promises and assumes. It uses accounts of its own, which it erases.",
  )
  .addOption(new Option("--stage <name>", "the deployed stage").conflicts("local"))
  .option("--local", "the running `npm start`")
  .option("--quick", "only whether callers can read and write")
  .option("--yes", "use a stage that keeps its data, too")
  .addHelpText(
    "after",
    "\nExit codes: 0 nothing differs from what is expected, 1 something differs or failed.",
  )
  .action(main);

async function main(target: Target & { readonly quick?: boolean }): Promise<void> {
  if (!target.stage && !target.local)
    throw new UserError(
      "Name what to accept: --stage NAME or --local. `npm run test:contract` takes an address.",
    );
  const acceptance = await open(target, { signal: abortOnSignals(), note: console.error });
  const report = await accept(acceptance, target.quick ? quickPhases : phases);
  console.log(terminalTable(report));
  const file = `${`accept-${report.name}-${report.startedAt}`.replaceAll(/[^\w-]/g, "-")}.json`;
  await writeFile(file, `${JSON.stringify(report, undefined, 2)}\n`);
  console.log(`The report is in ${file}.`);
  if (countVerdicts(report).differs > 0 || report.ended !== undefined) process.exitCode = 1;
}

/** A Ctrl-C ends the checks, after which their changes are reverted. npm forwards it once more. */
function abortOnSignals(): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    if (!controller.signal.aborted)
      console.error("\nTaking back what was made, which takes up to two minutes.");
    controller.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, abort);
  return controller.signal;
}

await run(async () => {
  try {
    await command.parseAsync();
  } catch (error) {
    throw await toUserError(error);
  }
});
