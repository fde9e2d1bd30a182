/** An environment variable that must be set; read at cold start, so that a wrong deployment fails at once. */
export function requiredEnv(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

/** An environment variable that is a whole number above 0; undefined when it is not set. */
export function optionalCount(name: string): number | undefined {
  const value = process.env[name];
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw new Error(`The environment variable ${name} must be a whole number above 0.`);
  return Number(value);
}

/** An environment variable that must be a whole number above 0. */
export function requiredCount(name: string): number {
  requiredEnv(name);
  return optionalCount(name) as number;
}
