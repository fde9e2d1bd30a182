/**
 * The functions give the SDK no logger. Its middleware would still copy each call's input and output, as it would log
 * them.
 */
export const getLoggerPlugin = () => ({ applyToStack() {} });

// The SDK exports these too.
export const loggerMiddleware = undefined;
export const loggerMiddlewareOptions = undefined;
