import fc from "fast-check";
import { expect, test } from "vitest";
import {
  activeConversationKey,
  conversationKey,
  idempotencyKey,
  itemTypes,
  leadConversationsPartition,
  leadEmailPartition,
  leadKey,
  messageKey,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../../../shared/dynamodb/keys.ts";

const part = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 64 }).filter((text) => text.isWellFormed()),
  fc.constantFrom("#", "%23", "a#b", "%", "LEAD", "acme#new"),
);

test("different values never build the same partition key", () => {
  const parts = fc.tuple(part, part, part);
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      const same = a.every((value, i) => value === b[i]);
      expect(
        statusAndSourceOrChannelPartition("lead", ...a) === statusAndSourceOrChannelPartition("lead", ...b),
      ).toBe(same);
      const [sourceA, sourceB] = [a, b].map(([account, value]) =>
        sourceOrChannelPartition("lead", account, value),
      );
      expect(sourceA === sourceB).toBe(a[0] === b[0] && a[1] === b[1]);
    }),
  );
});

test("every partition key begins with the item type, then the account", () => {
  expect(leadKey("acme", "lead_1")).toEqual({ pk: "LEAD#acme", sk: "lead_1" });
  expect(conversationKey("acme", "conv_1")).toEqual({ pk: "CONVERSATION#acme", sk: "conv_1" });
  expect(messageKey("acme", "conv_1", "msg_1")).toEqual({ pk: "MESSAGE#acme#conv_1", sk: "msg_1" });
  expect(activeConversationKey("acme", "lead_1", "a#b")).toEqual({ pk: "ACTIVE#acme#lead_1", sk: "a#b" });
  expect(statusPartition("lead", "a#b", "new")).toBe("LEAD#a%23b#new");
  expect(leadConversationsPartition("acme", "lead_1")).toBe("CONVERSATION#acme#lead_1");
  expect(leadEmailPartition("acme", "Ada#x@Example.com")).toBe("LEAD#acme#ada%23x%40example.com");
  expect(new Set(Object.values(itemTypes)).size).toBe(Object.keys(itemTypes).length);
});

test("the longest values that the API accepts fit in DynamoDB's 2,048 bytes of a partition key", () => {
  const longest = "\u{1F600}".repeat(64);
  const partition = statusAndSourceOrChannelPartition("conversation", "a".repeat(64), longest, longest);
  expect(Buffer.byteLength(partition)).toBeLessThanOrEqual(2048);
  const address = leadEmailPartition("a".repeat(64), "#".repeat(254));
  expect(Buffer.byteLength(address)).toBeLessThanOrEqual(2048);
  const { pk } = idempotencyKey("a".repeat(64), "create-lead", "#".repeat(255));
  expect(Buffer.byteLength(pk)).toBeLessThanOrEqual(2048);
});
