/** The services that functions call take all members of an operation in the body, none in a path, host or header. */
export const getHttpOperationBindings = () => [];

export { unused as HttpBindingNormalizedSchema } from "./unused.ts";
