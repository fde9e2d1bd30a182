import { withTable } from "../generated-table.ts";
import { alarmDefaults, alarms } from "./alarm-definitions.ts";

/** The runbook with the current table of alarms. */
export const withAlarmsTable = (page: string): string =>
  withTable(page, "alarms", [
    ["Alarm", "Severity", "Raised at", "Means", "Look first at", "From outside"],
    ...alarms.map((definition) => {
      const { name, section = name, required, unit, ...alarm } = { ...alarmDefaults, ...definition };
      const [breaching, evaluated, minutes] = alarm.periods;
      const limit = [required ? "<" : "≥", alarm.threshold, ...(unit ? [unit] : [])].join(" ");
      const length = minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
      const raisedAt = `${limit}, ${breaching} of ${evaluated} × ${length}`;
      return [
        `[${name}](#${section})`,
        alarm.severity,
        raisedAt,
        alarm.means,
        alarm.first,
        alarm.fromOutside,
      ];
    }),
  ]);
