import { withTable } from "../generated-table.ts";
import { type AlarmDefinition, alarms } from "./alarm-definitions.ts";

/** The runbook with the current table of alarms. */
export const withAlarmsTable = (page: string): string =>
  withTable(page, "alarms", [
    ["Alarm", "Severity", "Raised at", "Means", "Look first at", "From outside"],
    ...alarms.map((alarm) => [
      `[${alarm.name}](#${alarm.section ?? alarm.name})`,
      alarm.severity,
      raisedAt(alarm),
      alarm.means,
      alarm.first,
      alarm.fromOutside,
    ]),
  ]);

/** Such as `≥ 1.44 %, 2 of 3 × 5 min`. */
function raisedAt({ threshold, unit, required, periods: [breaching, evaluated, minutes] }: AlarmDefinition) {
  const limit = [required ? "<" : "≥", threshold, unit].filter((part) => part !== undefined).join(" ");
  const length = minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
  return `${limit}, ${breaching} of ${evaluated} × ${length}`;
}
