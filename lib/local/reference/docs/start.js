// Otherwise Scalar tries to compile code, which the page's Content-Security-Policy forbids.
globalThis.__zod_globalConfig = { jitless: true };

/** How Scalar shows the document. Every part that leads to another host is turned off. */
const configuration = {
  theme: "default",
  servers: [{ url: location.origin }],
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  hideModels: true,
  documentDownloadType: "none",
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: "preserve",
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
};

const createLead = "/api/v1/leads";
const sendMessage = "/api/v1/conversations";

async function readJson(path, init) {
  const response = await fetch(path, init);
  if (!response.ok) throw new Error(`${path} returned ${response.status}`);
  return response.json();
}

/** @returns undefined if there is no lead, or the list cannot be read */
const readNewestLead = (apiKey) =>
  readJson(`${createLead}?limit=1`, { headers: { authorization: `Bearer ${apiKey}` } }).then(
    ({ data }) => data[0],
    () => undefined,
  );

/** Fills in the lead's id where a message is sent, and the key and the address of this run in the first sample. */
function fill(openapi, apiKey, lead) {
  const filled = structuredClone(openapi);
  const { info } = filled;
  info.description = info.description
    .replace("<API_KEY>", apiKey)
    .replace("http://127.0.0.1:3000", location.origin);
  const { post } = filled.paths[sendMessage];
  if (lead) post.requestBody.content["application/json"].examples.message.value.leadId = lead.id;
  return filled;
}

/** Scalar leaves the menu of a narrow window open, over the guide that was chosen in it. */
const closeMenu = () =>
  [...document.querySelectorAll("button")].find(({ innerText }) => innerText.includes("Close Menu"))?.click();

async function start() {
  const [openapi, apiKey] = await Promise.all([
    readJson("/docs/page.json"),
    readJson("/docs/api-key.json"),
    import("/docs/scalar.js"),
  ]);
  const configure = (lead) => ({
    ...configuration,
    content: fill(openapi, apiKey, lead),
    authentication: { securitySchemes: { apiKey: { token: apiKey } } },
    // For an operation, Scalar closes the menu itself, and then the button does not exist any more.
    onSidebarClick: () => setTimeout(closeMenu),
    async onResponseReceived({ request, response }) {
      const isCreated = response.status === 201 && new URL(request.url).pathname === createLead;
      if (isCreated) reference.updateConfiguration(configure(await response.clone().json()));
    },
  });
  const reference = window.Scalar.createApiReference("#reference", {
    ...configure(),
    onLoaded: () => document.querySelector("#text")?.remove(),
  });
  // After the page is shown, because the first request to a function is slow.
  const lead = await readNewestLead(apiKey);
  if (lead) reference.updateConfiguration(configure(lead));
}

start().catch((error) => {
  const alert = document.createElement("p");
  alert.role = "alert";
  alert.textContent = `The reference cannot be shown: ${error.message}. The terminal of the local run has the reason.`;
  document.querySelector("#text").replaceChildren(alert);
});
