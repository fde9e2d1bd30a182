import { createClient } from "../client/client.ts";
import { fill, renderList } from "./view.js";

const requests = [];

/** Shows a request above the earlier ones. A GET that has the same status again is shown once, with a count. */
function showRequest(line, { method, body: sent }, status, received) {
  const known = method === "GET" && requests.find((one) => one.line === line && one.status === status);
  const request = known || { id: crypto.randomUUID(), line, status, times: 0 };
  request.times += 1;
  request.result = request.times > 1 ? `${status} · ${request.times} times` : `${status}`;
  request.body = [sent, received].flatMap((text) => text?.slice(0, 200) || []).join(" → ");
  if (!known) requests.unshift(request);
  renderList("request", requests.slice(0, 50), (element, { line, result, body }) =>
    fill(element, { line, result, body }),
  );
}

async function fetchAndShow({ pathname, search }, init) {
  const line = `${init.method} ${pathname}${decodeURIComponent(search)}`;
  try {
    const response = await fetch(pathname + search, init);
    showRequest(line, init, response.status, await response.clone().text());
    return response;
  } catch (error) {
    showRequest(line, init, "no response", "");
    throw error;
  }
}

export const key = await fetch("/docs/api-key.json").then((response) => response.json());

/** The client retries for some seconds. Then the page shows why the client gave up. */
export const client = createClient({ url: location.origin, key, fetch: fetchAndShow, within: 8000 });

/** An error of the client in words, with the faults of an invalid request. */
export const explain = ({ message, errors = [] }) =>
  [message, ...errors.map((fault) => `${fault.field} ${fault.message}.`)].join(" ");
