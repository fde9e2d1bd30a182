import { withTable } from "../generated-table.ts";
import { stageSchema } from "./settings.ts";

interface DocumentedSetting {
  readonly description: string;
  readonly errorMessage?: string;
  readonly default?: unknown;
}

/** A page with the current table of settings. */
export const withSettingsTable = (page: string): string =>
  withTable(page, "settings", [
    ["Setting", "Default", "Allowed", "Meaning"],
    ...Object.entries<DocumentedSetting>(stageSchema.properties).flatMap(
      ([name, { description, errorMessage, default: value }]) =>
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
    ),
  ]);
