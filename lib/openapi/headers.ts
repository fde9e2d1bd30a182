import { compressedFrom } from "../../shared/http/compressed-responses.ts";

/** A link of the `Link` header, as a pattern. */
const link = (rel: string) => `</[^>]+>; rel=\\x22${rel}\\x22`;

/** A header that always has the same value. */
const constant = (value: string, description: string) => ({
  description,
  schema: { type: "string", const: value },
  example: value,
});

const documented = {
  "apigw-requestid": {
    description: "API Gateway's id of the request, the `requestId` of a problem.",
    schema: { type: "string" },
    example: "ELcEv7R332QgMgM=",
  },
  "Cache-Control": constant("no-store", "No cache may keep a response of a function."),
  Vary: constant(
    "Accept-Encoding",
    "The response depends on the `Accept-Encoding` of the request. On every response of a function.",
  ),
  "Content-Encoding": constant(
    "gzip",
    `The body is compressed; HTTP clients decompress it by themselves. On responses of a function with at least ${compressedFrom.toLocaleString("en")} bytes, if \`Accept-Encoding\` accepts gzip.`,
  ),
  "RateLimit-Policy": {
    description:
      "The account's limit: `q` requests in each window of `w` seconds. On every response of a function, unless the deployment has no limit.",
    schema: { type: "string", pattern: "^\\x22account\\x22;q=[1-9][0-9]*;w=[1-9][0-9]*$" },
    example: '"account";q=6000;w=60',
  },
  RateLimit: {
    description:
      "The account's remaining requests: `r` requests for `t` more seconds. On every response of a function, unless the deployment has no limit.",
    schema: { type: "string", pattern: "^\\x22account\\x22;r=[0-9]+;t=[1-9][0-9]*$" },
    example: '"account";r=5991;t=42',
  },
  "Retry-After": {
    description: "Seconds after which to retry. On responses of a function, not on those of API Gateway.",
    schema: { type: "integer", minimum: 1 },
    example: 42,
  },
  Link: {
    description:
      "The pages `first`, `prev`, `next` and `last` as [RFC 8288](https://www.rfc-editor.org/rfc/rfc8288) links, relative to the request's address, with its filters, order and limit. The first page has no `prev`. The last page and those past it have no `next`, and the `prev` of a page past the last one is the last page. A list by a change shows 2,000 rows, after which `next` continues from the time of the last row; with the oldest change first, each `next` does so. If the header would have more than 3,500 bytes, it leaves out `last`, then `first`, then `prev`; if not even `next` fits, the response has no `Link`.",
    schema: {
      type: "string",
      pattern: `^(${link("first")}(, ${link("prev")})?(, ${link("next")})?(, ${link("last")})?|${link("prev")}(, ${link("next")})?|${link("next")})$`,
    },
    example:
      '</api/v1/leads?page=1&limit=20>; rel="first", </api/v1/leads?page=2&limit=20>; rel="next", </api/v1/leads?page=5&limit=20>; rel="last"',
  },
  "Accept-Encoding": constant(
    "identity",
    "The body was refused for its `Content-Encoding`, and not for its `Content-Type`: send it uncompressed.",
  ),
  "Idempotency-Replayed": constant(
    "true",
    "The request took effect before, and this response repeats the first one.",
  ),
};

export type HeaderName = keyof typeof documented;

const componentName = (name: string) => (name === "apigw-requestid" ? "RequestId" : name.replaceAll("-", ""));

/** The named headers of the document. */
export const headerComponents = Object.fromEntries(
  Object.entries(documented).map(([name, header]) => [componentName(name), header]),
);

/** References to headers, for a response. */
export const headers = (...wanted: readonly HeaderName[]) =>
  Object.fromEntries(wanted.map((name) => [name, { $ref: `#/components/headers/${componentName(name)}` }]));

/** The headers of every response of a function. */
export const functionHeaders = [
  "apigw-requestid",
  "Cache-Control",
  "Vary",
  "Content-Encoding",
  "RateLimit-Policy",
  "RateLimit",
] as const satisfies readonly HeaderName[];
