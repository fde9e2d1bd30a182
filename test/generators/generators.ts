/** A generator of clients, as its documentation says to call it, in `tools/`. */
export interface Generator {
  readonly name: string;
  /** The command and its arguments; the variable `DOCUMENT` and the argument `{document}` are the document's file. */
  readonly command: readonly [bin: string, ...args: string[]];
  /** Where the command writes to, in `tools/`. */
  readonly output: string;
  /** The module that calls the generated client. */
  readonly client: string;
  /** Whether the client checks what it receives. */
  readonly parsesWith: "Zod" | "nothing";
}

export const generators: readonly Generator[] = [
  {
    name: "hey-api",
    command: ["openapi-ts", "--file", "configs/hey-api.mjs"],
    output: ".build/hey-api",
    client: "clients/hey-api.ts",
    parsesWith: "Zod",
  },
  {
    name: "orval",
    command: ["orval", "--config", "configs/orval.mjs"],
    output: ".build/orval",
    client: "clients/orval.ts",
    parsesWith: "Zod",
  },
  {
    name: "kubb",
    command: ["kubb", "generate", "--config", "configs/kubb.mjs"],
    output: ".build/kubb",
    client: "clients/kubb.ts",
    parsesWith: "Zod",
  },
  {
    name: "oazapfts",
    command: ["oazapfts", "{document}", ".build/oazapfts/client.ts"],
    output: ".build/oazapfts",
    client: "clients/oazapfts.ts",
    parsesWith: "nothing",
  },
  {
    name: "openapi-zod-client",
    command: ["openapi-zod-client", "{document}", "-o", "zod-3/.build/openapi-zod-client/client.ts"],
    output: "zod-3/.build/openapi-zod-client",
    client: "zod-3/openapi-zod-client.ts",
    parsesWith: "Zod",
  },
];
