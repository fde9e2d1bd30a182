/** `lead.created` and `lead_created` are `LeadCreated`. */
export const pascalCase = (name: string) =>
  name.replaceAll(/(?:^|[._])(.)/g, (_, letter: string) => letter.toUpperCase());
