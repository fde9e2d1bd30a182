/** Items of a lead that no request has made: names that it has not, and keys with more parts, or with another spelling of the account. */
export function plantedItems(account: string, leadId: string) {
  const spelled = `%${Buffer.from(account[0] ?? "").toString("hex")}${account.slice(1)}`;
  return [
    ...["EXTERNAL", "ADDRESS"].map((type) => `${type}#${account}`),
    ...["LEAD", "CONVERSATION"].map((type) => `${type}#${account}#x`),
    ...["LEAD", "CONVERSATION", "EXTERNAL", "ADDRESS"].map((type) => `${type}#${spelled}`),
    ...["MESSAGE", "IDEMPOTENCY"].map((type) => `${type}#${spelled}#x`),
    `ACTIVE#${spelled}#${leadId}`,
  ].map((pk) => ({ pk, sk: leadId, leadId, ids: { id: leadId } }));
}
