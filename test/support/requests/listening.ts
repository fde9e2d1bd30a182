import type { Server } from "node:http";
import { listen } from "../../../lib/local/listen.ts";

/** Makes a server listen on a free port of 127.0.0.1. @returns its URL */
export const listening = async (server: Server): Promise<string> => (await listen(server)).url;
