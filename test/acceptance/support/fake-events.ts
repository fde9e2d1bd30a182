import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import {
  DeleteRuleCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { expect } from "vitest";
import { expectNamed, type FakeAccount, fakeClient } from "./fake-client.ts";

const owner = "eu-central-1:123456789012";
const queueUrl = (name: string) => `https://sqs/${name}`;

export type Event = Readonly<Record<string, unknown>> & {
  readonly detail: { readonly account: string; readonly id: string; readonly createdAt: string };
};

/** The event bus of a stack, with the rules and queues of runs. */
export class FakeEvents {
  readonly #account: FakeAccount;
  /** How each event is changed before it is delivered; undefined if it is lost. */
  changeEvent: (event: Event) => Event | undefined = (event) => event;
  /** How long after its item an event is sent, in milliseconds. */
  eventDelay = 300;
  failedTargets = 0;
  /** Called when no messages are left: a call waits for some. */
  waitForMessages = (): Promise<unknown> => setTimeout(100);
  readonly #messages: Event[] = [];
  /** The pattern of the rule that has a target. */
  #pattern: { readonly source?: string[]; readonly detail?: { readonly account: string[] } } = {};

  constructor(account: FakeAccount) {
    this.#account = account;
    this.#sqs();
    this.#events();
  }

  /** Delivers an event to the queue, as long as there is a rule for its account. */
  deliver(event: Event): void {
    const { source, detail } = this.#pattern;
    if (!source?.includes(String(event.source)) || !detail?.account.includes(event.detail.account)) return;
    const changed = this.changeEvent(event);
    if (changed) this.#messages.push(changed);
  }

  /** The names of queues. */
  get #queues(): string[] {
    return [...this.#account.temporary]
      .filter((name) => name.startsWith("queue "))
      .map((name) => name.slice("queue ".length));
  }

  #expectQueue(QueueUrl = "") {
    expectNamed(QueueUrl, this.#queues.map(queueUrl));
  }

  #sqs() {
    const { temporary } = this.#account;
    const on = fakeClient(SQSClient, this.#account);
    on(CreateQueueCommand, ({ QueueName = "", Attributes }) => {
      const [{ Resource, Condition }] = JSON.parse(Attributes?.Policy ?? "").Statement;
      expect([Resource, Condition.ArnEquals["aws:SourceArn"]]).toEqual([
        `arn:aws:sqs:${owner}:${QueueName}`,
        `arn:aws:events:${owner}:rule/bus/${QueueName}`,
      ]);
      temporary.add(`queue ${QueueName}`);
      return { QueueUrl: queueUrl(QueueName) };
    });
    on(ReceiveMessageCommand, async ({ QueueUrl, MessageSystemAttributeNames, MaxNumberOfMessages = 1 }) => {
      this.#expectQueue(QueueUrl);
      if (this.#messages.length === 0) await this.waitForMessages();
      const Messages = this.#messages.splice(0, MaxNumberOfMessages).map((event) => ({
        Body: JSON.stringify(event),
        ReceiptHandle: randomUUID(),
        ...(MessageSystemAttributeNames?.includes("SentTimestamp") && {
          Attributes: { SentTimestamp: String(Date.parse(event.detail.createdAt) + this.eventDelay) },
        }),
      }));
      return { Messages };
    });
    on(DeleteMessageBatchCommand, ({ QueueUrl }) => {
      this.#expectQueue(QueueUrl);
      return {};
    });
    on(DeleteQueueCommand, ({ QueueUrl }) => {
      this.#expectQueue(QueueUrl);
      temporary.delete(`queue ${QueueUrl?.split("/").at(-1)}`);
    });
  }

  #events() {
    const { stackName, temporary } = this.#account;
    const on = fakeClient(EventBridgeClient, this.#account);
    /** The pattern of each rule. */
    const patterns = new Map<string, string>();
    const targets = new Map<string, string>();
    on(PutRuleCommand, ({ EventBusName, Name = "", EventPattern = "" }) => {
      expectNamed(EventBusName, [stackName]);
      patterns.set(Name, EventPattern);
      temporary.add(`rule ${Name}`);
      return { RuleArn: `arn:aws:events:${owner}:rule/bus/${Name}` };
    });
    on(PutTargetsCommand, ({ EventBusName, Rule = "", Targets = [] }) => {
      const [target] = Targets;
      expectNamed(EventBusName, [stackName]);
      expectNamed(
        target?.Arn,
        this.#queues.map((name) => `arn:aws:sqs:${owner}:${name}`),
      );
      this.#pattern = JSON.parse(patterns.get(Rule) ?? "");
      targets.set(Rule, String(target?.Id));
      return {
        FailedEntryCount: this.failedTargets,
        FailedEntries: [{ ErrorMessage: "no access" }],
      };
    });
    on(RemoveTargetsCommand, ({ EventBusName, Rule = "", Ids = [] }) => {
      expectNamed(EventBusName, [stackName]);
      if (Ids.includes(targets.get(Rule) ?? "")) targets.delete(Rule);
      return {};
    });
    on(DeleteRuleCommand, ({ EventBusName, Name = "" }) => {
      expectNamed(EventBusName, [stackName]);
      if (targets.has(Name)) throw new Error("Rule can't be deleted since it has targets.");
      this.#pattern = {};
      temporary.delete(`rule ${Name}`);
    });
  }
}
