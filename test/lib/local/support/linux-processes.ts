import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Other systems than Linux do not show what a process has open without a program of their own. */
export const canSeeProcesses = process.platform === "linux";

/** Finds the engines that have the file open, by its real path. Linux only. */
export const findEngines = (file: string): number[] =>
  listProcesses().filter(
    (pid) => readLink(`/proc/${pid}/exe`)?.endsWith("/dynoxide") && listOpen(pid).includes(file),
  );

/**
 * Lists the addresses on which a process and its descendants listen for TCP, such as `127.0.0.1`, one for each port. An
 * address of IPv6 is in the hexadecimal form of the kernel. Linux only.
 *
 * @see https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html
 */
export function listeningAddresses(pid: number): string[] {
  const open = new Set(withDescendants(pid).flatMap(listOpen));
  const listening = "0A";
  return ["/proc/net/tcp", "/proc/net/tcp6"]
    .flatMap((file) => readFileSync(file, "utf8").trim().split("\n"))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === listening && open.has(`socket:[${fields[9]}]`))
    .map(([, local = ""]) => local.replace(/:.*/, "").replace("0100007F", "127.0.0.1"));
}

const listProcesses = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

function withDescendants(pid: number): number[] {
  const children = listProcesses().filter((child) => readParent(child) === pid);
  return [pid, ...children.flatMap(withDescendants)];
}

/** The functions below return nothing for a process that has ended. */
function readParent(pid: number): number | undefined {
  try {
    // The name of the process, in parentheses, may contain blanks.
    return Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

/** The paths of the open files, and the sockets as `socket:[<number>]`. */
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
