/** The largest page number, which has as many digits as a page's number may have. */
export const maxPage = 999_999_999;

/** The largest number of items per page; a power of ten. */
export const maxLimit = 100;

export const defaultPage = 1;
export const defaultLimit = 20;
