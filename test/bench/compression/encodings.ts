import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** Encodes a body as a function returns it: in base64. */
export interface Encoding {
  readonly name: string;
  readonly compress: (body: string) => Buffer;
}

const gzip = (level: number): Encoding => ({
  name: `gzip ${level}`,
  compress: (body) => gzipSync(body, { level }),
});

/** @see https://nodejs.org/api/zlib.html#class-brotlioptions */
const brotli = (quality: number): Encoding => ({
  name: `Brotli ${quality}`,
  compress: (body) =>
    brotliCompressSync(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: quality,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(body),
      },
    }),
});

/** The encoding of the service: shared/http/compressed-responses.ts. */
export const ours = gzip(6);

/** Brotli's default quality, 11, is for files that are compressed once. */
export const encodings: readonly Encoding[] = [
  ...[gzip(1), gzip(3), ours, gzip(9)],
  ...[1, 4, 5, 6, 9, 11].map(brotli),
];
