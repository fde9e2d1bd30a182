/** The document is the environment variable `DOCUMENT`. Paths are relative to this file. */
export default {
  api: {
    input: process.env.DOCUMENT,
    output: { target: "../.build/orval/client.ts", client: "zod" },
  },
};
