import { checkResponse, isDocumented } from "./document.ts";

/**
 * Fetches from the API and checks a route's response against docs/openapi.json. Use plain `fetch` for a response that must
 * not be documented, such as a response of changed sources.
 *
 * @throws Error that lists the differences
 */
export async function fetchChecked(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init);
  const { method = "GET" } = init;
  const path = new URL(url).pathname;
  if (isDocumented(method, path)) {
    const { status, headers } = response;
    checkResponse({ method, path }, { status, headers, body: await response.clone().text() });
  }
  return response;
}
