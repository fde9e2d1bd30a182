import { checking, checkResponse, isDocumented } from "./document.ts";

/** Whatever a test fetches from a route of the API must be answered as the OpenAPI document has it. */
const send = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const response = await send(input, init);
  const method = init?.method ?? "GET";
  const path = URL.parse(String(input))?.pathname ?? "";
  if (checking.on && isDocumented(method, path)) {
    const { status, headers } = response;
    checkResponse({ method, path }, { status, headers, body: await response.clone().text() });
  }
  return response;
};
