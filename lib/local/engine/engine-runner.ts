import { spawn } from "node:child_process";

/**
 * Runs the program of its arguments until that ends, or the process that started this one does: the channel between the two
 * ends with it, even after SIGKILL.
 */
const [program = "", ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
const kill = () => child.kill("SIGKILL");
child.on("exit", () => process.exit());
process.on("disconnect", kill);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, kill);
// It may have ended while this one loaded.
if (!process.connected) kill();
