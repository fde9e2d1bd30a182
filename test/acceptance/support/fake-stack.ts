import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { type FunctionName, functionNames } from "../../../lib/bundling/bundle.ts";
import { expectNamed, type FakeAccount, fakeClient } from "./fake-client.ts";

/** The name that Lambda has for a function, and that of its log group. */
export const physicalName = (name: FunctionName) => `function-${name}`;
export const logGroupName = (name: FunctionName) => `logs-${name}`;

/** A stack. */
export class FakeStack {
  readonly url: string;
  isProtected = false;
  /** When a run read the stack, in milliseconds since the epoch. */
  openedAt = 0;
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
  }
}
