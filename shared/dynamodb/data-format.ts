/**
 * The number of the format of stored data: the items of the table with their keys and attributes. A release that stores
 * an item, a key or an attribute that the release before does not store has the next number.
 */
export const dataFormat = 1;

/** The tag of a deployed table that has the number. */
export const dataFormatTag = "data-format";
