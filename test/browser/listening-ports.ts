import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Other systems than Linux do not show the ports of a process without a program of their own. */
export const canFindPorts = process.platform === "linux";

/** Finds the TCP ports on which a process and its descendants listen. Linux only. */
export function listeningPorts(pid: number): number[] {
  const sockets = new Set(findDescendants(pid).flatMap(openSockets));
  const listeners = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap(readListeners);
  return listeners.filter(({ socket }) => sockets.has(socket)).map(({ port }) => port);
}

function findDescendants(pid: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
  return [pid, ...children.flatMap(findDescendants)];
}

function parentOf(pid: string): number | undefined {
  try {
    // The name of the process, in parentheses, may contain blanks.
    const [, parent] = /\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return Number(parent);
  } catch {
    // The process has ended.
    return undefined;
  }
}

function openSockets(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).flatMap((name) => {
    const [, socket] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${directory}/${name}`)) ?? [];
    return socket ?? [];
  });
}

/** @see https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html */
function readListeners(file: string): { port: number; socket: string }[] {
  const listening = "0A";
  return readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === listening)
    .map(([, local = "", , , , , , , , socket = ""]) => ({
      port: Number.parseInt(local.split(":")[1] ?? "", 16),
      socket,
    }));
}
