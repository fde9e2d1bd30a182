/**
 * The ports of the engine, which answers every request that reaches it, whoever sends it.
 *
 * Browsers block requests to these ports, whatever the host name in the URL, so no web page can reach the engine.
 * Ports of the same list that are used on many machines, such as those of X11 and NFS, are left out.
 *
 * @see https://fetch.spec.whatwg.org/#port-blocking
 */
export const enginePorts = [
  1719, 1720, 1723, 3659, 4190, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
] as const;
