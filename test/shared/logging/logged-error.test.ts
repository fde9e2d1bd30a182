import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { loggedError } from "../../../shared/logging/logged-error.ts";

describe("what is logged of an error", () => {
  test("is its name, its code and its frames", () => {
    const error = Object.assign(new TypeError("secret"), { code: "ECONNRESET", item: "secret" });
    const { stack, ...others } = loggedError(error);
    expect(others).toEqual({ name: "TypeError", code: "ECONNRESET" });
    expect(stack?.split("\n")).toEqual(error.stack?.split("\n").slice(1));
  });

  test("is of an error of the table what AWS can look up, too", () => {
    const error = new TransactionCanceledException({
      message: "secret",
      $metadata: { requestId: "AWS-1", extendedRequestId: "secret" },
      CancellationReasons: [
        { Code: "None" },
        { Code: "ValidationError", Message: "secret", Item: { name: { S: "secret" } } },
      ],
    });
    const logged = loggedError(error);
    expect(logged).toMatchObject({ awsRequestId: "AWS-1", reasons: ["None", "ValidationError"] });
    expect(JSON.stringify(logged)).not.toContain("secret");
  });

  test.each([
    ["lines that look like frames", "a\n    at secret (secret.ts:1:1)\n    at secret (secret.ts:1:1)"],
    ["what its heading begins with", "Error: Error\n    at secret (secret.ts:1:1)"],
    ["several lines", "secret\nsecret"],
    ["no text", ""],
  ])("is nothing of a message with %s", (_, message) => {
    const error = new Error(message, { cause: new Error("secret") });
    const { stack = "" } = loggedError(error);
    expect(stack).not.toContain("secret");
    expect(stack.split("\n")).toEqual(new Error().stack?.split("\n").slice(1).map(anyPlace));
  });

  test("is nothing of a message that was put in later", () => {
    const error = new Error("secret");
    error.message = "other";
    expect(loggedError(error).stack).toMatch(/^ {4}at /);
    expect(JSON.stringify(loggedError(error))).not.toMatch(/secret|other/);
  });

  test.each(["secret", { secret: 1 }, undefined])("that is none, as %j, is its type", (thrown) => {
    expect(loggedError(thrown)).toEqual({ name: typeof thrown });
  });
});

/** A frame, wherever in this file it is. */
const anyPlace = (frame: string) => expect.stringContaining(frame.replace(/:\d+:\d+\)?$/, ""));
