/** Whether a text has the form of a stage's name. The longest name still fits into the names of all resources. */
export const isStageName = (name: string) => /^[a-z][a-z0-9-]{0,20}$/.test(name);

/** The rule for the name of a stage, as the end of a sentence. */
export const stageNameRule = "1 to 21 lower-case letters, digits or '-', the first one a letter";

/** The name that the stack, the table, the API and the bus of a stage share. */
export const stageResourceName = (stage: string) => `leads-and-conversations-${stage}`;
