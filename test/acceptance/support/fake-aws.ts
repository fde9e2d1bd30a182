import { stageTableName } from "../../../shared/stages.ts";
import type { FakeAccount } from "./fake-client.ts";
import { FakeEvents } from "./fake-events.ts";
import { FakeMonitoring } from "./fake-monitoring.ts";
import { FakeStack } from "./fake-stack.ts";

/**
 * The services of AWS, as far as they are called, of a stage that is as documented until a test changes it. They refuse what
 * AWS would not find, and lists have several pages.
 */
export class FakeAws implements FakeAccount {
  readonly stackName: string;
  readonly calls = new Set<string>();
  readonly temporary = new Set<string>();
  readonly now: () => number;
  readonly stack: FakeStack;
  readonly monitoring: FakeMonitoring;
  readonly events: FakeEvents;

  constructor(stage: string, url: string, now: () => number) {
    this.stackName = stageTableName(stage);
    this.now = now;
    this.stack = new FakeStack(this, url);
    this.monitoring = new FakeMonitoring(this, this.stack);
    this.events = new FakeEvents(this);
  }
}
