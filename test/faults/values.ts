/** The sources of leads; some have none. */
export const sources = ["instagram", "website"] as const;

/** The email addresses of leads; some have none. */
export const emails = ["Ada@example.com", "grace@example.com"] as const;

/** The channels of conversations. */
export const channels = ["whatsapp", "instagram", "sms"] as const;
