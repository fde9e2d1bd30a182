/** The channels whose messages go through Meta's Graph API. */
export const metaChannels = ["whatsapp", "instagram"] as const;

export type MetaChannel = (typeof metaChannels)[number];

export const isMetaChannel = (channel: unknown): channel is MetaChannel =>
  metaChannels.some((known) => known === channel);
