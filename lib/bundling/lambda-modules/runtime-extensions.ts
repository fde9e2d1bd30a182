/** No client has extensions, which could change its settings. */
export const resolveRuntimeExtensions = <T>(settings: T): T => settings;
