const apiKey = fetch("/docs/api-key.json").then((response) => response.json());

const ui = window.SwaggerUIBundle({
  url: "/docs/openapi.json",
  dom_id: "#reference",
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // The validator's badge would send the document to another server.
  validatorUrl: null,
  onComplete: async () => ui.preauthorizeApiKey("apiKey", await apiKey),
});
