/** One condition of a JSON filter pattern, in the forms that the stack uses. */
const condition = /^\(*\$\.([\w.]+) (?:(=|!=) "([^"*]*)(\*?)"|= (\d+)|IS (TRUE|FALSE))\)*$/;

const valueAt = (line: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], line);

function holds(text: string, line: unknown): boolean {
  const [match, path = "", operator, string = "", rest, number, truth] = condition.exec(text) ?? [];
  if (match === undefined) throw new Error(`The condition ${text} is not supported.`);
  const value = valueAt(line, path);
  if (number !== undefined) return value === Number(number);
  if (truth !== undefined) return value === (truth === "TRUE");
  if (typeof value !== "string") return false;
  return (rest ? value.startsWith(string) : value === string) === (operator === "=");
}

/**
 * Whether a metric filter counts a line of JSON.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
 */
export function matches(pattern: string, line: string): boolean {
  const alternatives = /^\{ (.*) \}$/.exec(pattern)?.[1]?.split(" || ");
  if (!alternatives) throw new Error(`${pattern} is not a JSON pattern.`);
  return alternatives.some((text) => text.split(" && ").every((each) => holds(each, JSON.parse(line))));
}
