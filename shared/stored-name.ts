/**
 * The form in which a source, a channel or a conversation's status is stored and compared: lower case, so that all
 * spellings are one name. `İ` stays, the one character whose lower case is two, so that no name becomes longer than it
 * may be.
 */
export const storedName = (name: string) => name.replace(/[^\u0130]+/g, (part) => part.toLowerCase());
