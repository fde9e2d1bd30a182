import { expect, test } from "vitest";
import { acceptsGzip } from "../../../shared/http/compressed-responses.ts";

test.each([
  "gzip",
  "GZIP",
  "gzip, deflate, br, zstd",
  "br,gzip",
  " br ;q=1.0 ,\tgzip ; q=0.5 ",
  "gzip;q=0.001",
  "gzip;Q=1",
  "gzip;x=1;q=0.5",
  "*",
  "*;q=0.5",
  "br;q=1, *;q=0.1",
  "*;q=0, gzip",
  "gzip, identity",
  "gzip;q=0.5, identity;q=0.5",
  "gzip, identity;q=0",
  "gzip;q=0.5, *;q=0",
  "gzip;q=0.5",
  ",,gzip,",
])("%j accepts gzip", (header) => {
  expect(acceptsGzip(header)).toBe(true);
});

test.each([
  "",
  " ",
  ",",
  "identity",
  "br",
  "deflate, br;q=1.0",
  "x-gzip",
  "gzipped",
  "gzip;q=0",
  "gzip;Q=0",
  "gzip;x=1;q=0",
  "GZIP ; q=0.000",
  "gzip;q=0, *",
  "gzip;q=-1",
  "gzip;q=",
  "gzip;q=x",
  "*;q=0",
  "identity;q=0",
  "identity;q=0, *;q=0",
  "identity, gzip;q=0.5",
  "gzip;q=0.5, *",
  "gzip;q=0.5, identity;q=0.8",
  '"gzip"',
  "\u00ff",
])("%j does not", (header) => {
  expect(acceptsGzip(header)).toBe(false);
});
