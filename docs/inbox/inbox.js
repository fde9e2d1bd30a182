import { readInbox } from "../client/recipes.ts";
import { client, explain, key } from "./requests.js";
import { find, nameOf, renderList, setText, showMessage, showRow } from "./view.js";

/** Texts that are typed and not sent yet, by the id of the conversation. */
const drafts = new Map();
/** The listed conversations, those that wait for a reply first. The open one has its messages, once they are read. */
let rows = [];
let looks = 0;
let timer;

const openId = () => /^#(conv_\w+)$/.exec(location.hash)?.[1];
const rowOf = (id) => rows.find((row) => row.id === id);

function draftOf(id) {
  if (!drafts.has(id)) drafts.set(id, { text: "", note: "" });
  return drafts.get(id);
}

/** Reads and shows everything, and again two seconds later while the page is visible. A later call replaces this call. */
async function look() {
  clearTimeout(timer);
  looks += 1;
  const [current, id] = [looks, openId()];
  try {
    const [waiting, active, opened] = await Promise.all([
      readInbox(client, { awaitingReply: true, limit: 100 }),
      readInbox(client, { status: "active", limit: 100 }),
      id ? readInbox(client, { id: [id], include: "messages", messageLimit: 100 }) : { rows: [] },
    ]);
    if (current !== looks) return;
    const found = [...waiting.rows, ...active.rows, ...opened.rows];
    rows = [...new Map(found.map((row) => [row.id, row])).values()];
    show();
    find("#empty").hidden = rows.length > 0;
    setText(find("#total"), `${waiting.total} waiting for a reply`);
    setText(find("#problem"), id && !rowOf(id) ? "There is no such conversation." : "");
  } catch (error) {
    if (current !== looks) return;
    setText(find("#problem"), `This may be out of date: ${explain(error)}`);
  }
  if (!document.hidden) timer = setTimeout(look, 2000);
}

function show() {
  const id = openId();
  document.body.classList.toggle("open", id !== undefined);
  renderList("conversation", rows, showRow);
  if (!id) return;
  const { messages = [], channel, status, ...rest } = rowOf(id) ?? {};
  const address = rest.lead?.addresses?.[channel]?.[0] ?? "no address, so nothing can be delivered";
  setText(find("#name"), nameOf(rest));
  setText(find("#about"), channel ? `${channel} · ${address} · ${status}` : "");
  find("#close").hidden = status !== "active";
  const scroll = find("#scroll");
  const isAtEnd = scroll.scrollTop + scroll.clientHeight > scroll.scrollHeight - 20;
  const isMore = isAtEnd && find("#messages").childElementCount > 0;
  // A screen reader reads new messages, but not all messages of a conversation that is opened.
  find("#messages").ariaLive = isMore ? "polite" : "off";
  renderList("message", messages.toReversed(), showMessage);
  if (isAtEnd) scroll.scrollTop = scroll.scrollHeight;
}

function showDraft() {
  if (!openId()) return;
  const { text, note, isSending = false } = draftOf(openId());
  Object.assign(find("#text"), { value: text, readOnly: isSending });
  setText(find("#note"), note);
}

/** Shows the conversation or the list that the URL of the page names, and moves the focus there. */
function open({ oldURL = "" } = {}) {
  show();
  showDraft();
  const previous = find(`a[href="${URL.parse(oldURL)?.hash}"]`) ?? find("#conversations a");
  (openId() ? find("#text") : previous)?.focus();
  look();
}

async function reply(event) {
  event.preventDefault();
  const id = openId();
  const draft = draftOf(id);
  const { leadId, channel } = rowOf(id) ?? {};
  if (!leadId || draft.isSending) return;
  // The key stays until the text is stored, because an attempt without a response may have stored the text.
  const { idempotencyKey = crypto.randomUUID() } = draft;
  Object.assign(draft, { isSending: true, idempotencyKey, note: "Sending…" });
  showDraft();
  try {
    const message = { leadId, channel, message: draft.text };
    const { conversationId } = await client.sendMessage(message, { idempotencyKey });
    drafts.delete(id);
    // The reply starts another conversation if this one has been closed meanwhile.
    if (openId() === id) location.hash = conversationId;
  } catch (error) {
    Object.assign(draft, { isSending: false, note: `Sending failed: ${explain(error)}` });
    // An earlier attempt has stored another text, which the page shows now: this text needs a new key.
    if (error.status === 422) draft.idempotencyKey = undefined;
  }
  showDraft();
  look();
}

async function close() {
  const id = openId();
  const { messageCount } = rowOf(id);
  try {
    await client.updateConversation({ id, status: "closed", messageCount });
    rows = rows.filter((row) => row.id !== id);
    if (openId() === id) location.hash = "";
  } catch (error) {
    draftOf(id).note = `Closing failed: ${explain(error)}`;
    showDraft();
    look();
  }
}

find("#close").onclick = close;
find("form").onsubmit = reply;
find("#text").oninput = ({ target }) => {
  draftOf(openId()).text = target.value;
};
document.onkeydown = ({ key: pressed, ctrlKey, metaKey }) => {
  if (pressed === "Escape" && openId()) location.hash = "";
  if (pressed === "Enter" && (ctrlKey || metaKey) && openId()) find("form").requestSubmit();
};
find("#first").prepend(`URL=${location.origin}/api/v1\nKEY=${key}\n`);
find("details").open = matchMedia("(min-width: 1000px)").matches;
document.onvisibilitychange = look;
window.onhashchange = open;
open();
