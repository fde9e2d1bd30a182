/**
 * Invisible characters, for a character class of a regular expression: those that Unicode lets renderers ignore (`DI`),
 * marks of interlinear notes, and the blank of Braille.
 */
const invisible = "\\p{DI}\\uFFF9-\\uFFFB\\u2800";

const allInvisible = new RegExp(`[${invisible}]`, "gu");

/** Finds a visible character. */
export const notBlank = new RegExp(`[^\\s${invisible}]`, "u");

/**
 * The form in which a label (a source, a channel or a conversation's status) is stored and compared, so that all spellings
 * that look alike are one: Unicode's NFKC, without invisible characters, in lower case and trimmed. Lower case comes
 * before composition: `J̌` is composed only in lower case.
 */
export const normalizeLabel = (name: string) =>
  name.normalize("NFKD").replace(allInvisible, "").toLowerCase().normalize("NFKC").trim();

const fits = /^.{1,64}$/su;

/** Whether a label that fits also fits in its stored form, which can be empty, or longer than the label, as for `½`. */
export const storable = (label: string): boolean => !fits.test(label) || fits.test(normalizeLabel(label));
