import { randomBytes } from "node:crypto";
import { parseApiKey } from "../../shared/domain/api-key-format.ts";

/** Texts that occur nowhere but where a test sends them, by which a log is searched. */
export class Canaries {
  /** In every canary and several times over, so that a piece of one, as an error quotes it, is found too. */
  readonly #marker = randomBytes(3)
    .toString("hex")
    .replaceAll(/\d/g, (digit) => "ghijklmnop".charAt(Number(digit)));
  readonly #secrets: string[] = [];

  /** A text for a field. */
  text(field: string): string {
    return `${this.#marker.repeat(3)}-${field}`;
  }

  /** Takes an API key for one; its id, which the access log has, is none. */
  key(apiKey: string): string {
    const [, , secret = ""] = apiKey.split("_");
    this.#secrets.push(secret, parseApiKey(apiKey)?.sha256 ?? secret);
    return apiKey;
  }

  /** What to search for. */
  get needles(): readonly string[] {
    return [this.#marker, ...this.#secrets];
  }
}
