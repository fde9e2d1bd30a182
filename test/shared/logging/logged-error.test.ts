import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { loggedError } from "../../../shared/logging/logged-error.ts";

describe("the logged form of an error", () => {
  test("is its name, its code and its stack frames", () => {
    const error = Object.assign(new TypeError("secret"), { code: "ECONNRESET", item: "secret" });
    const { stack, ...others } = loggedError(error);
    expect(others).toEqual({ name: "TypeError", code: "ECONNRESET" });
    expect(stack?.split("\n")).toEqual(error.stack?.split("\n").slice(1));
  });

  test("has the message if LOG_ERROR_MESSAGES is set", () => {
    vi.stubEnv("LOG_ERROR_MESSAGES", "true");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(loggedError(new TypeError("no secret"))).toMatchObject({ message: "no secret" });
  });

  test("includes the AWS request id and the cancellation reasons of a table's error", () => {
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
    ["a repetition of its heading", "Error: Error\n    at secret (secret.ts:1:1)"],
    ["several lines", "secret\nsecret"],
    ["no text", ""],
  ])("has nothing of a message with %s", (_, message) => {
    const error = new Error(message, { cause: new Error("secret") });
    const { stack = "" } = loggedError(error);
    expect(stack).not.toContain("secret");
    expect(stack.split("\n")).toEqual(new Error().stack?.split("\n").slice(1).map(anyPlace));
  });

  test.each([
    "secret",
    "other\u2028    at secret",
    "other\r    at secret",
    "secret: other\n    at secret\nsecret: other",
  ])("has nothing of the message %j after another was assigned", (message) => {
    const error = new Error(message);
    // The stack keeps the first message.
    expect(error.stack).toContain("secret");
    error.message = "other";
    expect(loggedError(error).stack).toMatch(/^ {4}at /);
    expect(JSON.stringify(loggedError(error))).not.toMatch(/secret|other/);
  });

  test.each(["secret", { secret: 1 }, undefined])("is only the type for a thrown %j", (thrown) => {
    expect(loggedError(thrown)).toEqual({ name: typeof thrown });
  });
});

/** A frame at any line of this file. */
const anyPlace = (frame: string) => expect.stringContaining(frame.replace(/:\d+:\d+\)?$/, ""));
