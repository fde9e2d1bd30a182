import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

const program = join(import.meta.dirname, "../../../bin/ops.ts");

/** Starts a command on a table that never answers, and sends Ctrl-C when it has called the table. */
async function interrupt(args: readonly string[]) {
  const table = createServer();
  onTestFinished(() => void table.close());
  const called = once(table, "connection");
  table.listen(0, "127.0.0.1");
  await once(table, "listening");
  const address = table.address();
  const env = {
    ...process.env,
    ...{ AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" },
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${Object(address).port}`,
  };
  const command = spawn(process.execPath, [program, ...args, "--table", "t"], { env });
  const printed = text(command.stderr);
  const ended = once(command, "close");
  const [socket] = await called;
  command.kill("SIGINT");
  const [code, signal] = await ended;
  socket.destroy();
  return { code, signal, stderr: await printed };
}

test("Ctrl-C says how to continue a command that can be continued", async () => {
  expect(await interrupt(["counts", "rebuild", "--account", "acme"])).toEqual({
    code: 130,
    signal: null,
    stderr: "\nStopped. What is done stays done: run the same command again to continue.\n",
  });
});

test("Ctrl-C ends another command at once, without a word", async () => {
  expect(await interrupt(["accounts", "list"])).toEqual({ code: null, signal: "SIGINT", stderr: "" });
});
