import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { ulidPattern } from "../ids.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 27 characters of 62 hold 160.7 bits. */
const secretLength = 27;

/** 6 characters of 62 hold the 32 bits of the checksum. */
const checksumLength = 6;

const format = new RegExp(
  `^(lck_(${ulidPattern})_[0-9A-Za-z]{${secretLength}})_([0-9A-Za-z]{${checksumLength}})$`,
);

/**
 * A new API key `lck_<keyId>_<secret>_<checksum>`: a recognizable prefix, a ULID, at least 160 random bits, and a
 * CRC-32 that detects a typo or a scanner's false hit without a read of the table.
 */
export function newApiKey(keyId: string): string {
  const secret = Array.from({ length: secretLength }, () => alphabet[randomInt(alphabet.length)]).join("");
  const body = `lck_${keyId}_${secret}`;
  return `${body}_${checksum(body)}`;
}

/** The key's id and the digest that it is stored under; undefined for a text that cannot be a key. */
export function parseApiKey(apiKey: string): { keyId: string; sha256: string } | undefined {
  const [, body, keyId, sum] = format.exec(apiKey) ?? [];
  if (body === undefined || keyId === undefined || sum !== checksum(body)) return undefined;
  return { keyId, sha256: createHash("sha256").update(apiKey).digest("hex") };
}

/** The CRC-32 of a text in base 62, padded to its full length. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
