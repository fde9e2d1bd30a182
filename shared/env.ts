/** An environment variable that must be set; read at cold start, so that a wrong deployment fails at once. */
export function requiredEnv(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
