import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { listeningPorts } from "../../../browser/listening-ports.ts";

/** Addresses of this machine besides 127.0.0.1. On Linux, all of 127.0.0.0/8 reaches what listens on every address. */
const otherAddresses = [
  "127.0.0.2",
  ...Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses
      .filter(({ address }) => address !== "127.0.0.1")
      .map(({ address, scopeid }) => (scopeid ? `${address}%${scopeid}` : address)),
  ),
];

/** The ports of a process and its descendants that accept connections, by address of this machine. */
export async function reachablePorts(
  pid: number,
): Promise<{ readonly own: number[]; readonly others: string[] }> {
  const ports = listeningPorts(pid);
  const reached = async (address: string) =>
    (await Promise.all(ports.map((port) => isReachable(address, port)))).flatMap((reachable, i) =>
      reachable ? (ports[i] ?? []) : [],
    );
  const others = await Promise.all(
    otherAddresses.map(async (address) => (await reached(address)).map((port) => `${address} port ${port}`)),
  );
  return { own: await reached("127.0.0.1"), others: others.flat() };
}

const isReachable = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host, port });
    const end = (reachable: boolean) => {
      socket.destroy();
      resolve(reachable);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
