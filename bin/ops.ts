import { run } from "../lib/command-line.ts";
import { runProgram } from "../lib/ops/program.ts";

await run(runProgram);
