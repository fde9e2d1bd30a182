/**
 * Whether a `Host` names this machine, with any port: a development server that forwards requests may keep its own.
 *
 * A page of another site can reach the gateway under its own host name, if it makes that name resolve to 127.0.0.1.
 *
 * @param host undefined for a request without it, which no browser sends
 */
export const isOwnHost = (host: string | undefined) =>
  host === undefined || /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i.test(host);
