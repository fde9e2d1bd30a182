import { randomUUID } from "node:crypto";

/** The global `crypto`, which the SDK prefers, would load the whole of Web Crypto. */
export const bindV4 = () => randomUUID;
