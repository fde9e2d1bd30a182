import { spawn } from "node:child_process";

/**
 * Runs the program that its arguments name until the program or the parent process ends. The channel to the parent closes
 * when the parent ends, even by SIGKILL.
 */
const [program = "", ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
const kill = () => child.kill("SIGKILL");
child.on("exit", () => process.exit());
process.on("disconnect", kill);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, kill);
// The parent may have ended while this process loaded.
if (!process.connected) kill();
