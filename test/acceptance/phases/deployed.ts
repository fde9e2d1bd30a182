import {
  DescribeStackDriftDetectionStatusCommand,
  DetectStackDriftCommand,
  paginateDescribeStackResourceDrifts,
  type StackResourceDrift,
  type StackResourceDriftStatus,
} from "@aws-sdk/client-cloudformation";
import type { AwsStage } from "../aws-stage.ts";
import { compared, notSeen } from "../finding.ts";
import { type Acceptance, type Phase, poll } from "../phase.ts";

/** How long CloudFormation may take to compare all resources, in milliseconds. */
const detection = 600_000;

/** Types of resources that CloudFormation calls modified although nobody changed them. */
const falselyModified = ["AWS::ApiGatewayV2::DomainName"];

/** Whether the resources are still what the stack deployed. */
export const deployed: Phase = {
  name: "deployed",
  minutes: 2,
  needs: "aws",
  async *run(acceptance) {
    const { aws, note } = acceptance as Acceptance & { aws: AwsStage };
    const { cloudFormation, stackName: StackName } = aws;
    const comparison = {
      check: "The resources of the stack",
      page: "docs/deploying.md#upgrading",
      expected: "as deployed",
    };
    note("CloudFormation compares all resources");
    const { StackDriftDetectionId } = await cloudFormation.send(new DetectStackDriftCommand({ StackName }));
    const state = await poll(acceptance, { every: 5000, atMost: detection }, async () => {
      const { DetectionStatus, DetectionStatusReason } = await cloudFormation.send(
        new DescribeStackDriftDetectionStatusCommand({ StackDriftDetectionId }),
      );
      return DetectionStatus === "DETECTION_IN_PROGRESS"
        ? undefined
        : { DetectionStatus, DetectionStatusReason };
    });
    if (state?.DetectionStatus === undefined)
      yield notSeen(comparison, "CloudFormation had not compared them in ten minutes");
    // Also a detection that failed has the resources that it compared.
    else if (state.DetectionStatus !== "DETECTION_COMPLETE")
      yield notSeen(comparison, `${state.DetectionStatusReason}`);
    const drifts = await readDrifts(aws);
    for (const drift of drifts) {
      const check = `${comparison.check}: ${drift.LogicalResourceId}`;
      if (drift.StackResourceDriftStatus === "DELETED") yield compared({ ...comparison, check }, "deleted");
      for (const { PropertyPath, ExpectedValue, ActualValue } of drift.PropertyDifferences ?? []) {
        const property = { ...comparison, check: `${check} ${PropertyPath}`, expected: `${ExpectedValue}` };
        yield falselyModified.includes(`${drift.ResourceType}`)
          ? notSeen(property, `${ActualValue}, which drift detection may report without a change`)
          : compared(property, `${ActualValue}`, false);
      }
    }
    if (drifts.length === 0 && state?.DetectionStatus === "DETECTION_COMPLETE")
      yield compared(comparison, "as deployed");
  },
};

async function readDrifts({ cloudFormation, stackName: StackName }: AwsStage): Promise<StackResourceDrift[]> {
  const filters: StackResourceDriftStatus[] = ["MODIFIED", "DELETED"];
  const changed = { StackName, StackResourceDriftStatusFilters: filters };
  const drifts: StackResourceDrift[] = [];
  for await (const page of paginateDescribeStackResourceDrifts({ client: cloudFormation }, changed))
    drifts.push(...(page.StackResourceDrifts ?? []));
  return drifts;
}
