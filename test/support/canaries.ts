import { randomBytes } from "node:crypto";
import { parseApiKey } from "../../shared/domain/api-key-format.ts";

/** Texts that occur nowhere else: a log that holds one holds what a test sent. */
export class Canaries {
  /** Repeated in every text, so that the fragment of one that an error quotes is found too. */
  readonly #marker = randomBytes(3)
    .toString("hex")
    .replaceAll(/\d/g, (digit) => "ghijklmnop".charAt(Number(digit)));
  readonly #secrets: string[] = [];

  /** Builds the text for a field. */
  text(field: string): string {
    return `${this.#marker.repeat(3)}-${field}`;
  }

  /** Adds the secret of an API key; its id may be in the access log. */
  key(apiKey: string): string {
    const [, , secret = ""] = apiKey.split("_");
    this.#secrets.push(secret, parseApiKey(apiKey)?.sha256 ?? secret);
    return apiKey;
  }

  /** The texts to search for. */
  get needles(): readonly string[] {
    return [this.#marker, ...this.#secrets];
  }
}
