import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { expect } from "vitest";

/** Whether the open files of processes can be listed. Systems other than Linux need a separate program for that. */
export const canSeeProcesses = process.platform === "linux";

/** Finds the engines that have the file open, by its real path. Linux only. */
export const findEngines = (file: string): number[] =>
  listProcesses().filter(
    (pid) => readLink(`/proc/${pid}/exe`)?.endsWith("/dynoxide") && listOpen(pid).includes(file),
  );

/** Expects that the port of a URL is served on 127.0.0.1 alone, and on no other address of this machine. Linux only. */
export async function expectLocalOnly(url: string): Promise<void> {
  if (!canSeeProcesses) return;
  const connected = once(connect(Number(new URL(url).port), "127.0.0.2"), "connect");
  await expect(connected).rejects.toThrow("ECONNREFUSED");
}

const listProcesses = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** The paths of the open files. */
function listOpen(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => readLink(`/proc/${pid}/fd/${fd}`) ?? []);
  } catch {
    return [];
  }
}

function readLink(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
