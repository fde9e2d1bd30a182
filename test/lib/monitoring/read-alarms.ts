import type { Template } from "aws-cdk-lib/assertions";

/** Settings with which the stack has every alarm that it can have. */
export const withEveryAlarm = {
  domainName: "api.example.com",
  certificateArn: "arn:aws:acm:eu-west-1:123456789012:certificate/abc-123",
  deployment: "canary",
  channels: true,
};

/** The settings of `withEveryAlarm`, and those that add other resources or properties. */
export const withEverything = {
  ...withEveryAlarm,
  tracing: true,
  eventArchiveDays: 7,
  corsOrigins: ["https://a.example"],
};

interface TemplateMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

/** The properties of an alarm in a template: either a metric of its own, or `Metrics` with expressions. */
export interface Alarm extends TemplateMetric {
  readonly AlarmDescription: string;
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly DatapointsToAlarm: number;
  readonly EvaluationPeriods: number;
  readonly TreatMissingData: string;
  readonly AlarmActions?: readonly unknown[];
  readonly OKActions?: readonly unknown[];
  readonly Statistic?: string;
  readonly Period?: number;
  readonly Metrics?: readonly {
    readonly Id: string;
    readonly Expression?: string;
    readonly ReturnData?: boolean;
    readonly MetricStat?: { readonly Metric: TemplateMetric; readonly Stat: string; readonly Period: number };
  }[];
}

const shortName = (name: string) => name.replace(/^leads-and-conversations-(?:dev|prod)-/, "");

/** Every alarm of a stack by its name, without the stack's name before it. */
export const readAlarms = (template: Template): ReadonlyMap<string, Alarm> =>
  new Map(
    Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(({ Properties }) => [
      shortName(Properties.AlarmName),
      Properties,
    ]),
  );

/** A value of the template as text. References become logical ids. */
function flatten(value: unknown): string {
  if (typeof value === "string") return value;
  const { Ref, "Fn::GetAtt": attribute, "Fn::Join": join } = value as Record<string, string[]>;
  return join ? [join[1]].flat().map(flatten).join("") : String(Ref ?? attribute?.join("."));
}

/** Logical ids end with a hash; that of a version changes with the code. */
const withoutHash = (text: string) =>
  text
    .replace(/^\w+CurrentVersion\w+\.Version$/, "new version")
    .replace(/(?<=[a-z])[0-9A-F]{8}(?=$|[.:])/, "");

/** The metrics that an alarm reads, each with its statistic and its period in seconds, by their ids in its expression. */
export function readMetrics(alarm: Alarm) {
  const own = { Metric: alarm, Stat: alarm.Statistic ?? "", Period: alarm.Period ?? 0 };
  const { Metrics = [{ Id: "metric", MetricStat: own }] } = alarm;
  return new Map(Metrics.flatMap(({ Id, MetricStat }) => (MetricStat ? [[Id, MetricStat] as const] : [])));
}

/**
 * What an alarm compares with its threshold: its expression with its metrics in braces, each with its dimensions and
 * functions by their names. A sum has no statistic.
 */
export function watched(alarm: Alarm, functions: ReadonlyMap<string, string>): string {
  const metrics = readMetrics(alarm);
  const nameOf = (value: unknown) => functions.get(flatten(value)) ?? withoutHash(flatten(value));
  const textOf = (id: string, isNested = false): string => {
    const stat = metrics.get(id);
    if (stat) {
      const { MetricName, Dimensions = [] } = stat.Metric;
      const parts = [...Dimensions.map(({ Value }) => nameOf(Value)), MetricName];
      return `{${[...parts, ...(stat.Stat === "Sum" ? [] : [stat.Stat])].join(" ")}}`;
    }
    const expression = alarm.Metrics?.find((each) => each.Id === id)?.Expression;
    if (expression === undefined) throw new Error(`The alarm has no metric ${id}.`);
    // The functions of CloudWatch have capital letters.
    const text = expression.replaceAll(/\b[a-z]\w*/g, (inner) => textOf(inner, true));
    return isNested ? `(${text})` : text;
  };
  return textOf(alarm.Metrics?.find(({ ReturnData }) => ReturnData)?.Id ?? "metric");
}
