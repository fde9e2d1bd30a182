import type { Template } from "aws-cdk-lib/assertions";

interface TemplateMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

/** The properties of an alarm in a template: either a metric of its own, or `Metrics` with expressions. */
export interface Alarm extends Partial<TemplateMetric> {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly ActionsEnabled?: boolean;
  readonly AlarmActions?: readonly unknown[];
  readonly OKActions?: readonly unknown[];
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly DatapointsToAlarm: number;
  readonly EvaluationPeriods: number;
  readonly TreatMissingData: string;
  readonly Statistic?: string;
  readonly ExtendedStatistic?: string;
  readonly Period?: number;
  readonly Metrics?: readonly {
    readonly Id: string;
    readonly Expression?: string;
    readonly AccountId?: string;
    /** Whether it is what the alarm evaluates. */
    readonly ReturnData?: boolean;
    readonly MetricStat?: {
      readonly Metric: TemplateMetric;
      readonly Stat: string;
      readonly Period: number;
    };
  }[];
}

/** Every alarm of a stack by its name without the stack's. */
export const readAlarms = (template: Template): ReadonlyMap<string, Alarm> =>
  new Map(
    Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(({ Properties }) => [
      Properties.AlarmName.replace(/^leads-and-conversations-(?:dev|prod)-/, ""),
      Properties,
    ]),
  );

/** A metric as text, with everything that tells it from other metrics. */
export function metricKey(
  namespace: string,
  name: string,
  dimensions: Readonly<Record<string, unknown>>,
  statistic: string,
  seconds: number,
): string {
  const sorted = JSON.stringify(Object.entries(dimensions).sort());
  return `${namespace} ${name} ${sorted} ${statistic} of ${seconds} s`;
}

const toKey = ({ Namespace, MetricName, Dimensions = [] }: TemplateMetric, stat: string, period: number) =>
  metricKey(
    Namespace,
    MetricName,
    Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
    stat,
    period,
  );

/** The metrics that an alarm reads, as `metricKey` writes them, by their ids in its expression. */
export function readMetrics(alarm: Alarm): ReadonlyMap<string, string> {
  const { Metrics, Namespace = "", MetricName = "", Dimensions, Period = 0 } = alarm;
  if (!Metrics) {
    const statistic = alarm.Statistic ?? alarm.ExtendedStatistic ?? "";
    return new Map([["metric", toKey({ Namespace, MetricName, Dimensions }, statistic, Period)]]);
  }
  return new Map(
    Metrics.flatMap(({ Id, MetricStat }) =>
      MetricStat ? [[Id, toKey(MetricStat.Metric, MetricStat.Stat, MetricStat.Period)]] : [],
    ),
  );
}
