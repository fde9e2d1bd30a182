export const find = (selector) => document.querySelector(selector);

/** Sets a text only if it has changed, so that a selection in the text stays. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows items in the list `#<name>s` by the template `#<name>`. The element of a known item is kept, with its focus. */
export function renderList(name, items, update) {
  const list = find(`#${name}s`);
  const template = find(`template#${name}`).content.firstElementChild;
  const known = new Map([...list.children].map((element) => [element.dataset.id, element]));
  const elements = items.map((item) => {
    const element = known.get(item.id) ?? template.cloneNode(true);
    element.dataset.id = item.id;
    update(element, item);
    return element;
  });
  const isSame = elements.length === known.size && elements.every((one, at) => one === list.children[at]);
  if (isSame) return;
  const focused = document.activeElement;
  list.replaceChildren(...elements);
  if (list.contains(focused)) focused.focus({ preventScroll: true });
}

/** Puts texts into the elements with these classes. */
export function fill(element, texts) {
  for (const [name, text] of Object.entries(texts)) setText(element.querySelector(`.${name}`), text);
}

export const nameOf = ({ lead, leadId = "…" }) => lead?.name ?? leadId;

/** A time, without the date if it is today. */
function showTime(timestamp) {
  const time = new Date(timestamp);
  const isToday = time.toDateString() === new Date().toDateString();
  return time.toLocaleString("en", { ...(!isToday && { dateStyle: "medium" }), timeStyle: "short" });
}

export function showRow(element, row) {
  const { id, channel, lastMessageAt, lastMessage, awaitingReplySince } = row;
  const link = element.querySelector("a");
  link.href = `#${id}`;
  link.ariaCurrent = location.hash === `#${id}` ? "true" : null;
  link.dataset.waits = awaitingReplySince !== undefined;
  const since = awaitingReplySince
    ? `waiting since ${showTime(awaitingReplySince)}`
    : showTime(lastMessageAt);
  const last = (lastMessage.direction === "outbound" ? "You: " : "") + lastMessage.text;
  fill(element, { name: nameOf(row), last, since: `${channel} · ${since}` });
}

export function showMessage(element, { direction, message, createdAt, delivery = "stored", deliveryError }) {
  element.className = `${direction} ${delivery}`;
  const states = [showTime(createdAt)];
  if (direction === "outbound") states.push(delivery);
  if (deliveryError) states.push(deliveryError);
  fill(element, { text: message, state: states.join(" · ") });
}
