/** The release that a function is of. */
export const release = process.env.RELEASE;
