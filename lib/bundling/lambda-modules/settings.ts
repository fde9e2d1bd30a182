interface Setting<T> {
  readonly environmentVariableSelector: (env: NodeJS.ProcessEnv, configuration: object) => T | undefined;
  readonly default: T | (() => T | Promise<T>);
}

/**
 * A setting of the SDK, from its variable or by its default. Replaces the SDK's search, which also reads the files
 * `~/.aws/config` and `~/.aws/credentials`.
 *
 * Safe: a function has no such files. The SDK's own functions still read the variable and give the default.
 */
export const loadConfig =
  <T>({ environmentVariableSelector, default: fallback }: Setting<T>, configuration = {}) =>
  async (): Promise<T> =>
    environmentVariableSelector(process.env, configuration) ??
    (fallback instanceof Function ? fallback() : fallback);
