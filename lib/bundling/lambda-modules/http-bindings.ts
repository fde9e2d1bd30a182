import { unused } from "./unused.ts";

/** The services that functions call take all members of an operation in the body, none in a path, host or header. */
export const getHttpOperationBindings = () => [];

export const HttpBindingNormalizedSchema = { of: unused };
