/**
 * The number of the format of stored data: the items of the table with their keys and attributes. A release gets the next
 * number if it stores an item, a key or an attribute that the release before does not store.
 */
export const dataFormat = 1;

/** The tag of a deployed table that has the number. */
export const dataFormatTag = "data-format";
