import { setTimeout } from "node:timers/promises";
import { conversations, leads, type Message, pathOf, type Query, unique } from "../account.ts";
import { type Context, promises, shared } from "../check.ts";
import { expectMatch, expectResponse } from "../expectations.ts";
import { expectFaults } from "./faults.ts";
import { findsOf } from "./filters.ts";

/** Three conversations on one channel, the oldest first, whose last messages have the order 2, 0, 1. */
async function makeConversations({ mine }: Context) {
  const channel = unique("activity");
  const leadIds: string[] = [];
  const sent: Message[] = [];
  const send = async (n: number, message: string) => {
    sent.push(await mine.sendMessage(leadIds[n] ?? "", channel, message));
    // Each message has a time of its own.
    await setTimeout(3);
  };
  for (const n of [0, 1, 2]) {
    leadIds.push((await mine.createLead({ source: channel })).id);
    await send(n, `first of ${n}`);
  }
  await send(0, "second of 0");
  await send(1, "second of 1");
  await send(1, "third of 1");
  return {
    channel,
    ids: { [leads]: leadIds, [conversations]: [0, 1, 2].map((n) => sent[n]?.conversationId ?? "") },
    sent,
    /** When the last message of a conversation was sent, moved by some milliseconds. */
    lastAt: (n: 0 | 1 | 2, more = 0) =>
      new Date(Date.parse(sent[[3, 5, 2][n] ?? 0]?.createdAt ?? "") + more).toISOString(),
  };
}

const finds = findsOf(makeConversations);

/** Expects each query of conversations to have one fault. */
const rejects =
  (cases: Readonly<Record<string, string>>) =>
  async ({ mine }: Context): Promise<void> => {
    for (const [query, fault] of Object.entries(cases))
      expectFaults(await mine.get(`${conversations}?${query}`), [`query ${fault}`]);
  };

export const activityChecks = [
  ...promises("docs/usage.md#order", {
    "Conversations are sorted by their creation or their last message, in either order": finds(
      conversations,
      ({ channel, ids, lastAt }) => [
        [{ channel, sort: "createdAt" }, [0, 1, 2]],
        [{ channel, sort: "-lastMessageAt" }, [1, 0, 2]],
        [{ channel, status: "active", sort: "lastMessageAt" }, [2, 0, 1]],
        [{ id: String(ids[conversations]), sort: "-lastMessageAt" }, [1, 0, 2]],
        [{ channel, sort: "lastMessageAt", lastMessageBefore: lastAt(1) }, [2, 0]],
      ],
    ),
    "Leads are sorted by their last change, in either order, and listed since a change": async (context) => {
      const { ids } = await shared(context, makeConversations);
      const body = { id: ids[leads][0], name: "Changed" };
      const sent = await context.mine.post(`${leads}?ifExists=update`, body);
      const { updatedAt } = expectResponse<{ updatedAt: string }>(sent, { status: 200 });
      await finds(leads, ({ channel: source }) => [
        [{ source, sort: "updatedAt" }, [1, 2, 0]],
        [{ source, sort: "-updatedAt" }, [0, 2, 1]],
        [{ sort: "updatedAt", updatedAfter: updatedAt }, [0]],
        [{ source, updatedBefore: updatedAt }, [2, 1]],
        [{ id: String(ids[leads]), status: "new", updatedAfter: updatedAt }, [0]],
      ])(context);
    },
    "A list by the last message ends after 2,000 rows, and any other order is not allowed": rejects({
      "sort=-lastMessageAt&page=101": "page out_of_range",
      "sort=lastMessageAt&limit=100&page=21": "page out_of_range",
      "sort=status": "sort not_allowed",
      "sort=-createdAt,id": "sort not_allowed",
    }),
  }),
  ...promises("docs/usage.md#filters", {
    "lastMessageAfter includes its time, lastMessageBefore excludes it": finds(
      conversations,
      ({ channel, lastAt }) => [
        [{ channel, lastMessageAfter: lastAt(0) }, [1, 0]],
        [{ channel, lastMessageAfter: lastAt(2), lastMessageBefore: lastAt(1) }, [2, 0]],
        [{ channel, lastMessageAfter: lastAt(0), lastMessageBefore: lastAt(0) }, []],
      ],
    ),
    "Times of messages are timestamps, and the end is not earlier than the start": rejects({
      "lastMessageAfter=now": "lastMessageAfter invalid_format",
      "lastMessageBefore=2026-02-30T09:30:00Z": "lastMessageBefore invalid_format",
      "lastMessageAfter=2026-01-02T00:00:00Z&lastMessageBefore=2026-01-01T00:00:00Z":
        "lastMessageBefore out_of_range",
    }),
  }),
  ...promises("docs/usage.md#messages", {
    "A conversation is opened with its messages, newest first, and with older ones page by page": async (
      context,
    ) => {
      const { ids, sent } = await shared(context, makeConversations);
      const id = ids[conversations][1] ?? "";
      const own = sent.filter(({ conversationId }) => conversationId === id).reverse();
      const pages: [Query, readonly Message[]][] = [
        [{}, own],
        [{ messageLimit: 2 }, own.slice(0, 2)],
        [{ messageLimit: 2, messagesBefore: own[1]?.id ?? "" }, own.slice(2)],
        [{ messagesBefore: own[2]?.id ?? "" }, []],
      ];
      for (const [query, messages] of pages) {
        const response = await context.mine.get(pathOf(conversations, { id, include: "messages", ...query }));
        const body = { data: [{ id, messageCount: 3, messages }], pagination: { total: 1 } };
        expectResponse(response, { status: 200, body });
      }
      const { data } = await context.mine.list(conversations, { id });
      expectMatch("a conversation without include", data, [{ id, messages: undefined }]);
    },
    "A read-only key can open conversations, and no key those of another account": async (context) => {
      const { ids } = await shared(context, makeConversations);
      const query = { id: ids[conversations][2] ?? "", include: "messages" };
      const mine = context.readOnly ?? context.mine;
      expectMatch("messages", await mine.list(conversations, query), {
        data: [{ messages: [{ message: "first of 2" }] }],
      });
      await context.other.expectRows(conversations, query, []);
    },
    "A template of up to 3,072 bytes is returned with its message; an inbound message has none": async ({
      mine,
    }) => {
      const { id: leadId } = await mine.createLead();
      const parameters = ["x".repeat(1024), "\u{1F600}".repeat(256), `"${"x".repeat(959)}`];
      const template = { name: "welcome_2", language: "en_US", parameters };
      const body = { leadId, channel: "whatsapp", message: "Hello", template };
      const sent = await mine.post(conversations, body);
      const { conversationId: id } = expectResponse<Message>(sent, { status: 201, body });
      const { data } = await mine.list(conversations, { id, include: "messages" });
      expectMatch("the messages", data, [{ messages: [sent.body] }]);
      const inbound = await mine.post(conversations, { ...body, direction: "inbound" });
      expectFaults(inbound, ["body template not_allowed"]);
      const larger = { ...template, name: "welcome_20" };
      expectFaults(await mine.post(conversations, { ...body, template: larger }), [
        "body template too_large",
      ]);
    },
    "include needs exactly one id, and the other parameters of messages need include": rejects({
      "include=messages": "include not_allowed",
      "include=messages&id=conv_1,conv_2": "include not_allowed",
      "include=leads&id=conv_1": "include not_allowed",
      "messageLimit=5": "messageLimit not_allowed",
      [`messagesBefore=msg_${"0".repeat(26)}`]: "messagesBefore not_allowed",
      "include=messages&id=conv_1&messageLimit=101": "messageLimit out_of_range",
      "include=messages&id=conv_1&messagesBefore=conv_1": "messagesBefore invalid_format",
    }),
  }),
];
