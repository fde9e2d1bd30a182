/** The sources of leads, but for those that have none. */
export const sources = ["instagram", "website"] as const;

/** The channels of conversations. */
export const channels = ["whatsapp", "instagram", "sms"] as const;
