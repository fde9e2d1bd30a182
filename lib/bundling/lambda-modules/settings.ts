interface Setting<T> {
  readonly environmentVariableSelector: (env: NodeJS.ProcessEnv, configuration: object) => T | undefined;
  readonly default: T | (() => T | Promise<T>);
}

/** A setting of the SDK by its variable, or its default: a function has no files with settings. */
export const loadConfig =
  <T>({ environmentVariableSelector, default: fallback }: Setting<T>, configuration = {}) =>
  async (): Promise<T> =>
    environmentVariableSelector(process.env, configuration) ??
    (fallback instanceof Function ? fallback() : fallback);
