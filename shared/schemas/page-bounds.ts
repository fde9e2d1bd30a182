/** How many digits the number of a page has at most. */
const pageDigits = 9;

/** The largest number of items per page is a power of ten. */
const limitZeros = 2;

export const maxPage = 10 ** pageDigits - 1;
export const maxLimit = 10 ** limitZeros;

export const defaultPage = 1;
export const defaultLimit = 20;

/** Plain digits, from 1 to `maxPage`. */
export const pagePattern = `^[1-9]\\d{0,${pageDigits - 1}}$`;

/** Plain digits, from 1 to `maxLimit`. */
export const limitPattern = `^(?:[1-9]\\d{0,${limitZeros - 1}}|${maxLimit})$`;
