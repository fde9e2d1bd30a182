/** Converts a name such as `lead.created` or `lead_created` to `LeadCreated`. */
export const pascalCase = (name: string) =>
  name.replaceAll(/(?:^|[._])(.)/g, (_, letter: string) => letter.toUpperCase());
