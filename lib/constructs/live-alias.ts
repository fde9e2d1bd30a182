import { Fn, Stack, Validations } from "aws-cdk-lib";
import { CfnAuthorizer, CfnIntegration } from "aws-cdk-lib/aws-apigatewayv2";
import {
  Alias,
  type CfnFunction,
  CfnPermission,
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
 * Has the gateway call the alias of each function of the API. The permission to call the function itself stays, so
 * requests are served while a deployment adds the aliases to a stack or removes them.
 */
export function callLiveAliases(
  api: Construct,
  apiId: string,
  functions: readonly { readonly alias: Alias | undefined; readonly lambda: LambdaFunction }[],
): void {
  for (const { alias, lambda } of functions) {
    if (!alias) continue;
    Validations.of(lambda).acknowledge({
      id: "Annotation::@aws-cdk/aws-lambda:addPermissionsToVersionOrAlias",
      reason: "The gateway may call the alias as well as the function.",
    });
    const permission = new CfnPermission(alias, "Permission", {
      action: "lambda:InvokeFunction",
      functionName: alias.functionArn,
      principal: "apigateway.amazonaws.com",
      // The id of the authorizer in place of * would make the permission wait for the authorizer, which must wait for it.
      sourceArn: Stack.of(api).formatArn({
        service: "execute-api",
        resource: apiId,
        resourceName: "*",
      }),
    });
    for (const caller of api.node.findAll()) {
      if (caller instanceof CfnIntegration && caller.integrationUri === lambda.functionArn) {
        caller.integrationUri = alias.functionArn;
        caller.addResourceDependency(permission);
      }
      if (caller instanceof CfnAuthorizer && caller.authorizerUri?.includes(lambda.functionArn)) {
        caller.authorizerUri = caller.authorizerUri.replace(lambda.functionArn, alias.functionArn);
        caller.addResourceDependency(permission);
      }
    }
  }
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
