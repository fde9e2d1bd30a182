import type { SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "../../support/mocked-client.ts";

/** What the fakes of all services share. */
export interface FakeAccount {
  readonly stackName: string;
  /** The names of all calls, such as `CreateQueue`. */
  readonly calls: Set<string>;
  /** What exists for a run alone: rules and queues, by their kinds and names. */
  readonly temporary: Set<string>;
  /** The time of the run, in milliseconds since the epoch. */
  now(): number;
}

/** Replaces the calls of a client. @returns how to respond to a command; all others are refused */
export function fakeClient(client: unknown, { calls }: FakeAccount) {
  const mock = mockClient(client as typeof SQSClient);
  mock.onAnyCommand().rejects(new Error("This call is not expected."));
  return <Input>(
    command: new (input: never) => { readonly input: Input },
    respond: (input: Input) => unknown,
  ) =>
    mock.on(command as never).callsFake(async (input) => {
      calls.add(command.name.replace(/Command$/, ""));
      return respond(input as Input);
    });
}

/** The items from a token on, as many as a page has, and the token of the next page. */
export function pageOf<T>(all: readonly T[], size: number, token = "0") {
  const end = Number(token) + size;
  return { items: all.slice(Number(token), end), next: end < all.length ? String(end) : undefined };
}

/** @throws Error as AWS does for what it does not have */
export function expectNamed(name: string | undefined, names: Iterable<string>): void {
  if (![...names].includes(String(name))) throw new Error(`${name} does not exist`);
}
