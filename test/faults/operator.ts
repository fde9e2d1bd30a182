import { setConversationStatus } from "../../lib/ops/conversations/conversation-status.ts";
import { setLeadStatus } from "../../lib/ops/leads/lead-changes.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import type { Ledger } from "./ledger.ts";

/** How long an operator's change may take, in milliseconds. */
const timeout = 5000;

/** Changes each status at most once, so that its final value is known. */
export class Operator {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  changeLead(account: string, id: string, status: Lead["status"]): Promise<void> {
    return this.#change(account, id, status, (deadline) => setLeadStatus(account, id, status, deadline));
  }

  closeConversation(account: string, id: string): Promise<void> {
    const status = "closed";
    return this.#change(account, id, status, (deadline) =>
      setConversationStatus(account, id, status, deadline),
    );
  }

  /** A change that fails may or may not have taken effect. */
  async #change(
    account: string,
    id: string,
    status: string,
    change: (deadline: number) => Promise<unknown>,
  ): Promise<void> {
    if (this.#ledger.changes.has(id)) return;
    const record = { account, id, status };
    this.#ledger.changes.set(id, record);
    try {
      await this.#ledger.track(change(Date.now() + timeout));
      this.#ledger.changes.set(id, { ...record, acknowledgedAt: Date.now() });
    } catch {}
  }
}
