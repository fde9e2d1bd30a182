import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect } from "vitest";

/** Whether the commands of processes can be read. Systems other than Linux need a separate program for that. */
export const canSeeProcesses = process.platform === "linux";

/** Finds the engines of a database file, by its real path. Linux only. */
export const findEngines = (file: string): number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      const [program = "", ...args] = commandOf(pid);
      return program.endsWith("/dynoxide") && args.includes(file);
    });

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    // It is no process, or has ended.
    return [];
  }
}

/** Expects that the port of a URL is served on 127.0.0.1 alone, and on no other address of this machine. Linux only. */
export async function expectLocalOnly(url: string): Promise<void> {
  if (!canSeeProcesses) return;
  const connected = once(connect(Number(new URL(url).port), "127.0.0.2"), "connect");
  await expect(connected).rejects.toThrow("ECONNREFUSED");
}
