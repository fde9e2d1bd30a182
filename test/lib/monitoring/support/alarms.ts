import type { Template } from "aws-cdk-lib/assertions";

/** The properties of every alarm of a stack, by its name without the stack's. */
export const alarmsOf = (template: Template) =>
  new Map(
    Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(({ Properties }) => [
      Properties.AlarmName.replace(/^leads-and-conversations-(?:dev|prod)-/, ""),
      Properties,
    ]),
  );
