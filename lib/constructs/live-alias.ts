import { Fn, Stack } from "aws-cdk-lib";
import {
  Alias,
  type CfnFunction,
  type IVersion,
  type Function as LambdaFunction,
} from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";

/** The construct with the aliases of a stack. */
export function aliasScope(stack: Stack): Construct {
  const id = "Deployment";
  return (stack.node.tryFindChild(id) as Construct | undefined) ?? new Construct(stack, id);
}

/** Creates the alias `live` of the current version of a function: a rollback moves it to an older version. */
export function addLiveAlias(lambda: LambdaFunction, name: string): Alias {
  keepVersionWhenPinned(lambda);
  // The cast lets apps with exactOptionalPropertyTypes compile this file.
  const version = lambda.currentVersion as IVersion;
  return new Alias(aliasScope(Stack.of(lambda)), name, { aliasName: "live", version });
}

/**
 * Names the bucket with the code in the same way whether the stage has an account and a region or not. The id of the
 * version is a hash of this name, too, and Lambda publishes no second version of the same code and settings.
 */
function keepVersionWhenPinned(lambda: LambdaFunction): void {
  const stack = Stack.of(lambda);
  const resource = lambda.node.findChild("Resource") as CfnFunction;
  const { s3Bucket }: { s3Bucket?: string | { "Fn::Sub"?: string } } = stack.resolve(resource.code);
  const name = typeof s3Bucket === "string" ? s3Bucket : s3Bucket?.["Fn::Sub"];
  if (name === undefined) return;
  const { account, region } = stack;
  const placeholders = name.replace(account, `\${AWS::AccountId}`).replace(region, `\${AWS::Region}`);
  resource.addPropertyOverride("Code.S3Bucket", Fn.sub(placeholders));
}
