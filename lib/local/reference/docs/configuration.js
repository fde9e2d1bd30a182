/** How Scalar shows the document. Every part that leads to another host is turned off. */
export const configuration = {
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
  // Only curl, fetch and Python's http.client remain.
  hiddenClients: [
    "c clojure csharp dart fsharp go http java julia kotlin node objc ocaml php powershell r ruby rust swift",
    "shell/wget shell/httpie js/axios js/ofetch js/jquery js/xhr",
    "python/requests python/aiohttp python/httpx_sync python/httpx_async",
  ].flatMap((names) => names.split(" ")),
  localization: {
    translations: {
      operation: { testRequest: "Try it" },
      apiClient: { authSelector: { selectedType: "{type}" } },
    },
  },
};
