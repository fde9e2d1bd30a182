/**
 * What shows nothing, for a class of a regular expression: what Unicode lets renderers ignore (`DI`), marks of interlinear
 * notes, and the blank of Braille.
 */
const invisible = "\\p{DI}\\uFFF9-\\uFFFB\\u2800";

const allInvisible = new RegExp(`[${invisible}]`, "gu");

/** Finds a character that shows something. */
export const notBlank = new RegExp(`[^\\s${invisible}]`, "u");

/**
 * The form in which a label (a source, a channel or a conversation's status) is stored and compared, so that all spellings
 * that look alike are one: Unicode's NFKC, without invisible characters, in lower case and trimmed. Lower case comes
 * before composition: `J̌` is composed only in lower case.
 */
export const normalizeLabel = (name: string) =>
  name.normalize("NFKD").replace(allInvisible, "").toLowerCase().normalize("NFKC").trim();

const fits = /^.{1,64}$/su;

/** Whether a label that fits is one in its stored form, too: it can be empty there, or longer, as `½` is. */
export const storable = (label: string): boolean => !fits.test(label) || fits.test(normalizeLabel(label));
