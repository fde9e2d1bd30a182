import type { Account } from "../fuzz/world.ts";
import type { TestApi } from "../support/api.ts";

/** Where an attack takes place. */
export interface Battlefield {
  readonly api: TestApi;
  /** Whose key the attacker has, or none. */
  readonly attacker: Account;
  readonly victim: Account;
  readonly random: () => number;
  /** Counts a response, or whether a role allowed a request. */
  readonly note: (outcome: number | string) => void;
}

/** One attempt to do what nobody may. @returns what succeeded; undefined when nothing did */
export type Attempt = (field: Battlefield) => Promise<string | undefined>;

/** What of the victim a text reveals that the attacker did not send. */
export function leaked({ victim }: Battlefield, text: string, sent: string): string | undefined {
  const secrets = [victim.mark, victim.apiKey, ...victim.ids];
  return secrets.find((secret) => text.includes(secret) && !sent.includes(secret));
}
