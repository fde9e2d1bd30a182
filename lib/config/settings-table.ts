import { stageSchema } from "./settings.ts";

interface DocumentedSetting {
  readonly description: string;
  readonly errorMessage?: string;
  readonly default?: unknown;
}

const tableMarks = ["<!-- settings: npm run stages -->", "<!-- end of settings -->"] as const;

/** The settings as a Markdown table: name, default, what is allowed, meaning. */
function settingsTable(): string {
  const settings = Object.entries<DocumentedSetting>(stageSchema.properties);
  const rows = settings.flatMap(([name, { description, errorMessage, default: value }]) =>
    errorMessage === undefined
      ? []
      : [
          [
            `\`${name}\``,
            value === undefined ? "" : `\`${JSON.stringify(value)}\``,
            errorMessage,
            description,
          ],
        ],
  );
  const lines = [["Setting", "Default", "Allowed", "Meaning"], ["---", "---", "---", "---"], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The page with the current table between its marks. @throws Error without them */
export function withSettingsTable(page: string): string {
  const [before, rest] = page.split(tableMarks[0]);
  const after = rest?.split(tableMarks[1])[1];
  if (before === undefined || after === undefined)
    throw new Error(`The page has no ${tableMarks.join(" … ")}.`);
  return `${before}${tableMarks[0]}\n\n${settingsTable()}\n\n${tableMarks[1]}${after}`;
}
