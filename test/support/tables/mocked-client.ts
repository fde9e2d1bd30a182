import { mockClient as mock } from "aws-sdk-client-mock";
import { afterAll } from "vitest";

const restores: (() => void)[] = [];
afterAll(() => {
  for (const restore of restores) restore();
});

/** Replaces the calls of an SDK client until the end of the test file: the next file of the worker uses the same class. */
export const mockClient: typeof mock = (client, options) => {
  const stub = mock(client, options);
  restores.push(() => stub.restore());
  return stub;
};
