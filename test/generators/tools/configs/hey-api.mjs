/** The document is the environment variable `DOCUMENT`. The client checks requests and responses with Zod. */
export default {
  input: process.env.DOCUMENT,
  output: { path: ".build/hey-api" },
  plugins: ["@hey-api/client-fetch", "zod", { name: "@hey-api/sdk", validator: true }],
};
