import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "../../docs/client/client.ts";
import { contrastFaults, looks, openPage, overflow, screenshots, startLocalRun } from "./local-run.ts";

const run = await startLocalRun();
const client = createClient(run);

/** Stores a message with a lead of its own. */
async function store(name: string, message: string, direction: "inbound" | "outbound") {
  const { id: leadId } = await client.createLead({ name });
  return client.sendMessage({ leadId, channel: "whatsapp", direction, message });
}

async function openInbox({ width = 1280, scheme = "light" }: Partial<(typeof looks)[number]> = {}) {
  const page = await openPage(run.browser, { width, scheme });
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${run.url}/inbox`);
  const rows = page.getByRole("navigation").getByRole("link");
  const messages = page.getByRole("region", { name: "Messages" }).getByRole("listitem");
  return { page, rows, messages, reply: page.getByLabel("Reply"), errors };
}

test("without a conversation, the inbox says how to make one; a waiting lead is first, and texts are no markup", async () => {
  const { page, rows } = await openInbox();
  await page.getByText("LEAD=$(curl").waitFor();
  await store("<b>Ada</b>", "<img src=x>", "inbound");
  await store("Grace Hopper", "Hello Grace", "outbound");
  await rows.nth(1).waitFor();
  const [first, second] = await rows.allInnerTexts();
  expect(first).toMatch(/^<b>Ada<\/b>\n<img src=x>\nwhatsapp · waiting since /);
  expect(second).toMatch(/^Grace Hopper\nYou: Hello Grace\nwhatsapp · /);
});

test("by keyboard alone: a reply appears with its states, an answer by itself, and a closed conversation disappears", async () => {
  const { leadId, conversationId } = await store("Alan Turing", "Is it still free?", "inbound");
  const { page, rows, messages, reply, errors } = await openInbox({ width: 390 });
  const row = rows.filter({ hasText: "Alan Turing" });
  const focusOnReply = () => expect.poll(() => page.evaluate("document.activeElement.id")).toBe("text");
  await row.focus();
  await page.keyboard.press("Enter");
  await focusOnReply();
  await page.keyboard.type("Yes, it is.");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const sent = messages.filter({ hasText: "Yes, it is." });
  await sent.getByText("stored").waitFor();
  await expect.poll(() => reply.inputValue()).toBe("");
  const { value } = await client.messages(conversationId).next();
  const report = { id: value?.id ?? "", conversationId, deliveryError: "131026: gone" };
  await client.updateMessage({ ...report, delivery: "failed" });
  await sent.getByText("failed · 131026: gone").waitFor();
  await client.sendMessage({ leadId, channel: "whatsapp", direction: "inbound", message: "Thank you!" });
  await messages.filter({ hasText: "Thank you!" }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.evaluate("document.activeElement.innerText")).toContain("Alan Turing");
  await page.keyboard.press("Enter");
  await focusOnReply();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await rows.first().waitFor();
  expect(await row.count()).toBe(0);
  expect((await client.findConversations([conversationId])).get(conversationId)?.status).toBe("closed");
  expect(errors).toEqual([]);
});

test("a refused text stays, with the reason; a text whose response was lost is stored once if it is sent again", async () => {
  await store("Tim Berners-Lee", "Hello?", "inbound");
  const { page, rows, messages, reply } = await openInbox();
  await rows.filter({ hasText: "Tim" }).click();
  await reply.fill("x".repeat(4097));
  await reply.press("Control+Enter");
  await page
    .getByText(/Sending failed: .*400 invalid_input.* message must have at most 4096 characters/)
    .waitFor();
  expect(await reply.inputValue()).toHaveLength(4097);
  await page.route(
    "**/api/v1/conversations",
    async (route) => {
      await route.fetch();
      await route.fulfill({ status: 501 });
    },
    { times: 1 },
  );
  await reply.fill("Short");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Sending failed: ").filter({ hasText: "501" }).waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  await messages.filter({ hasText: "Short" }).waitFor();
  const posts = page.getByRole("complementary").getByRole("listitem").filter({ hasText: "POST" });
  await posts.nth(2).waitFor();
  expect(await posts.locator(".result").allInnerTexts()).toEqual(["201", "501", "400"]);
  expect(await posts.first().innerText()).toMatch(
    /^POST \/api\/v1\/conversations\s.*"Short".* → \{"id":"msg_/s,
  );
  await expect.poll(() => reply.inputValue()).toBe("");
  expect(await messages.count()).toBe(2);
});

test.each(
  looks,
)("at $width px, in the $scheme scheme, nothing is cut and all texts have enough contrast", async (look) => {
  await store("A name that is long ".repeat(8).trim(), "word".repeat(60), "inbound");
  const { page, rows, messages } = await openInbox(look);
  await rows.first().waitFor();
  const check = async (name: string) => {
    await page.screenshot({ path: join(screenshots, `${look.width}-${look.scheme}-${name}.png`) });
    expect([name, await overflow(page), await contrastFaults(page)]).toEqual([name, 0, []]);
  };
  await check("inbox");
  await rows.filter({ hasText: "long" }).first().click();
  await messages.first().waitFor();
  await check("inbox-conversation");
});
