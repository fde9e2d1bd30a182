import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stageSchema } from "./config/settings.ts";
import { alarms } from "./monitoring/alarm-definitions.ts";
import { openApiDocument } from "./openapi/document.ts";

const settingRows = [
  ["Setting", "Default", "Allowed", "Meaning"],
  ...Object.entries(stageSchema.properties).flatMap(([name, setting]) => {
    const text = "default" in setting ? `\`${JSON.stringify(setting.default)}\`` : "";
    if (!("errorMessage" in setting)) return [];
    return [[`\`${name}\``, text, setting.errorMessage, setting.description]];
  }),
];

const alarmRows = [
  ["Alarm", "Severity", "Raised at", "Means", "Look first at", "From outside"],
  ...alarms.map(({ name, section, severity, means, first, fromOutside, ...alarm }) => {
    const [breaching, evaluated, minutes] = alarm.periods;
    const limit = `${alarm.required ? "<" : "≥"} ${alarm.threshold} ${alarm.unit}`.trimEnd();
    const length = minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
    const raisedAt = `${limit}, ${breaching} of ${evaluated} × ${length}`;
    return [`[${name}](#${section})`, severity, raisedAt, means, first, fromOutside];
  }),
];

/** Returns the page with the current rows in the named table. @throws Error if the page has no marks around the table */
function pageWithTable(path: string, name: string, rows: readonly (readonly string[])[]): string {
  const [begin, end] = [`<!-- ${name}: npm run generate -->`, `<!-- end of ${name} -->`];
  const [before, rest] = readFileSync(join(import.meta.dirname, "..", path), "utf8").split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${path} has no ${begin} … ${end}.`);
  const [header = [], ...others] = rows;
  const lines = [header, header.map(() => "---"), ...others].map((cells) => `| ${cells.join(" | ")} |`);
  return `${before}${begin}\n\n${lines.join("\n")}\n\n${end}${after}`;
}

/** Escapes all characters except ASCII, because the patterns contain Unicode spaces, which look alike. */
const toAscii = (text: string) =>
  text.replaceAll(/[^ -~\n]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The text of each generated file, by its path. Clients, pages and editors read routes, settings and alarms from them. */
export const generatedFiles = (): Readonly<Record<string, string>> => ({
  "docs/openapi.json": `${toAscii(JSON.stringify(openApiDocument(), undefined, 2))}\n`,
  "stages/stage.schema.json": `${JSON.stringify(stageSchema, undefined, 2)}\n`,
  "docs/configuration.md": pageWithTable("docs/configuration.md", "settings", settingRows),
  "docs/operations.md": pageWithTable("docs/operations.md", "alarms", alarmRows),
});
