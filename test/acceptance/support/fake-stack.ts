import {
  CloudFormationClient,
  DescribeStackDriftDetectionStatusCommand,
  DescribeStackResourceDriftsCommand,
  DescribeStacksCommand,
  DetectStackDriftCommand,
  ListStackResourcesCommand,
  type StackResourceDrift,
} from "@aws-sdk/client-cloudformation";
import { type FunctionName, functionNames } from "../../../lib/bundling/bundle.ts";
import { expectNamed, type FakeAccount, fakeClient, pageOf } from "./fake-client.ts";

/** The name that Lambda has for a function, and that of its log group. */
export const physicalName = (name: FunctionName) => `function-${name}`;
export const logGroupName = (name: FunctionName) => `logs-${name}`;

/** The alarms of the stack, without its name. */
export const alarmNames = [
  "server-errors",
  "slow-answers",
  "counting-late",
  "error-budget",
  "function-throttles",
];

/** As many resources as a page has. */
const otherResources = Array.from({ length: 100 }, (_, n) => ({
  ResourceType: "AWS::Logs::LogGroup",
  PhysicalResourceId: `logs-${n}`,
}));

const inSync: StackResourceDrift = {
  ...{ StackId: "1", ResourceType: "AWS::SQS::Queue", Timestamp: new Date() },
  ...{ LogicalResourceId: "Queue", StackResourceDriftStatus: "IN_SYNC" },
};

/** A stack. */
export class FakeStack {
  readonly url: string;
  isProtected = false;
  drifts: readonly StackResourceDrift[] = [];
  /** When a run read the stack, in milliseconds since the epoch. */
  openedAt = 0;
  /** Whether the detection of drift has been asked for its state. */
  #isDetected = false;
  constructor(account: FakeAccount, url: string) {
    this.url = url;
    const { stackName } = account;
    const on = fakeClient(CloudFormationClient, account);
    on(DescribeStacksCommand, ({ StackName }) => {
      expectNamed(StackName, [stackName]);
      this.openedAt = account.now();
      const outputs = {
        ApiUrl: this.url,
        TableName: stackName,
        EventBusName: stackName,
        FunctionNames: JSON.stringify(
          Object.fromEntries(functionNames.map((name) => [name, physicalName(name)])),
        ),
        FunctionLogGroups: JSON.stringify(functionNames.map(logGroupName)),
      };
      const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
      return { Stacks: [{ EnableTerminationProtection: this.isProtected, Outputs }] };
    });
    on(ListStackResourcesCommand, ({ StackName, NextToken }) => {
      expectNamed(StackName, [stackName]);
      const alarms = alarmNames.map((name) => ({
        ResourceType: "AWS::CloudWatch::Alarm",
        PhysicalResourceId: `${stackName}-${name}`,
      }));
      const page = pageOf([...otherResources, ...alarms], 100, NextToken);
      return { StackResourceSummaries: page.items, NextToken: page.next };
    });
    on(DetectStackDriftCommand, ({ StackName }) => {
      expectNamed(StackName, [stackName]);
      return { StackDriftDetectionId: "drift-1" };
    });
    on(DescribeStackDriftDetectionStatusCommand, ({ StackDriftDetectionId }) => {
      expectNamed(StackDriftDetectionId, ["drift-1"]);
      const DetectionStatus = this.#isDetected ? "DETECTION_COMPLETE" : "DETECTION_IN_PROGRESS";
      this.#isDetected = true;
      return { DetectionStatus };
    });
    on(DescribeStackResourceDriftsCommand, ({ StackName, NextToken, StackResourceDriftStatusFilters }) => {
      expectNamed(StackName, [stackName]);
      const all = [inSync, ...this.drifts].filter(
        ({ StackResourceDriftStatus: status }) =>
          status && (StackResourceDriftStatusFilters?.includes(status) ?? true),
      );
      const page = pageOf(all, 1, NextToken);
      return { StackResourceDrifts: page.items, NextToken: page.next };
    });
  }
}
