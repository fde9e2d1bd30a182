import {
  DeleteRuleCommand,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import { eventSource } from "../../../shared/domain/events.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import { idTimestamp } from "../../../shared/ids.ts";
import { parseJson } from "../../../shared/json.ts";
import { leads } from "../../contract/account.ts";
import { spread } from "../../support/cases/statistics.ts";
import { compareEvent } from "../../support/requests/document.ts";
import type { AwsStage } from "../aws-stage.ts";
import { assumption, compared } from "../finding.ts";
import { type Acceptance, type Phase, poll } from "../phase.ts";

/** How many leads are created, each with a message. */
const leadCount = 20;

/** How long an event takes normally and at most, in milliseconds. */
const normally = 1000;
const atMost = 60_000;

/** How long EventBridge may take to apply a new rule, in milliseconds. */
const ruleDelay = 30_000;

/** Checks events, with a queue and a rule that exist only for the run. */
export const events: Phase = {
  name: "events",
  needs: "aws",
  async *run(acceptance, aws) {
    const { mine, wait, accounts } = acceptance;
    const { mine: account } = accounts;
    const receive = await subscribe(acceptance, aws, account);
    await wait(ruleDelay);
    // These times are by the clock of Lambda, as in ids, because the clock of this machine may differ.
    const expected = new Map<string, number>();
    const fields = { email: "accept@example.com", source: "accept" };
    for (let n = 0; n < leadCount; n++) {
      const lead = await mine.createLead({ ...fields, externalId: `accept-${n}` });
      expected.set(lead.id, Date.parse(lead.createdAt));
      const { id, conversationId, createdAt } = await mine.sendMessage(lead.id, "web");
      for (const sent of [id, conversationId]) expected.set(sent, Date.parse(createdAt));
    }
    const [changed = ""] = expected.keys();
    await mine.post(`${leads}?ifExists=update`, { externalId: "accept-0", status: "qualified" });
    const changeId = String((await readItem(leadKey(account, changed)))?.changeId);
    expected.set(changeId, idTimestamp(changeId));
    const seen = new Map<string, ReturnType<typeof read>>();
    const collect = async () => {
      for (const event of await receive())
        if (expected.has(event.id) && !seen.has(event.id)) seen.set(event.id, event);
      return [...expected.keys()].every((id) => seen.has(id)) || undefined;
    };
    await poll(acceptance, { every: 1000, atMost }, collect);
    const missing = [...expected.keys()].filter((id) => !seen.has(id));
    yield compared(
      assumption("events", `The events of ${expected.size} writes`, "all within a minute"),
      missing.length === 0 ? "all within a minute" : `${missing.length} are missing, such as ${missing[0]}`,
    );
    const { median, worst } = spread(
      [...seen].map(([id, { sentAt }]) => sentAt - (expected.get(id) ?? sentAt)),
    );
    yield compared(
      assumption("event-delay", "The time from a write to its event", `${normally} ms, normally`),
      `${median} ms (median), ${worst} ms at most`,
      median <= normally,
    );
    const wrong = [...seen.values()].flatMap(({ faults }) => faults);
    yield compared(
      assumption("events", "The envelope and the fields of events", "as documented"),
      wrong[0] ?? "as documented",
    );
  },
};

/** Removes a rule, and first its target: a rule with a target cannot be deleted. */
async function removeRule(events: AwsStage["events"], EventBusName: string, Name: string): Promise<void> {
  const isMissing = (error: unknown) => {
    if (!(error instanceof Error && error.name === "ResourceNotFoundException")) throw error;
  };
  await events.send(new RemoveTargetsCommand({ EventBusName, Rule: Name, Ids: ["queue"] })).catch(isMissing);
  await events.send(new DeleteRuleCommand({ EventBusName, Name }));
}

/** Creates a queue that receives the events of an account. @returns a function that takes up to ten events from it */
async function subscribe({ cleanUp }: Acceptance, stage: AwsStage, account: string) {
  const { sqs, events } = stage;
  const name = `leads-accept-${stage.stage}-${account}`;
  const EventBusName = stage.output("EventBusName");
  cleanUp.defer(() => removeRule(events, EventBusName, name));
  const EventPattern = JSON.stringify({ source: [eventSource], detail: { account: [account] } });
  const { RuleArn = "" } = await events.send(new PutRuleCommand({ EventBusName, Name: name, EventPattern }));
  const [, partition, , region, owner] = RuleArn.split(":");
  const Arn = ["arn", partition, "sqs", region, owner, name].join(":");
  const Policy = JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Principal: { Service: "events.amazonaws.com" },
        Action: "sqs:SendMessage",
        Resource: Arn,
        Condition: { ArnEquals: { "aws:SourceArn": RuleArn } },
      },
    ],
  });
  // A policy that is set later can take a minute to take effect.
  const creating = new CreateQueueCommand({ QueueName: name, Attributes: { Policy } });
  const { QueueUrl = "" } = await sqs.send(creating);
  cleanUp.defer(() => sqs.send(new DeleteQueueCommand({ QueueUrl })).then(() => {}));
  const { FailedEntryCount, FailedEntries: [entry] = [] } = await events.send(
    new PutTargetsCommand({ EventBusName, Rule: name, Targets: [{ Id: "queue", Arn }] }),
  );
  if (FailedEntryCount) throw new Error(`EventBridge refused the queue: ${entry?.ErrorMessage}`);
  return async () => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ["SentTimestamp"],
      }),
    );
    const Entries = Messages.map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle }));
    if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    return Messages.map(({ Body = "", Attributes: { SentTimestamp } = {} }) =>
      read(Body, Number(SentTimestamp)),
    );
  };
}

/** @param sentAt when SQS received the event, in milliseconds since the epoch */
function read(body: string, sentAt: number) {
  const event = parseJson(body);
  const { id } = Object(Object(event).detail);
  const faults = compareEvent(Object(event)).map((fault) => `the event of ${id}: ${fault}`);
  return { id: String(id), sentAt, faults };
}
