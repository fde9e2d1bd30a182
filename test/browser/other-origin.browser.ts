import { createServer, type Server } from "node:http";
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engineClient } from "../../lib/local/engine/dynamodb-client.ts";
import { listening } from "../support/listening.ts";
import { type BrowsedRun, startBrowsedRun } from "./chromium.ts";
import { canFindPorts, listeningPorts } from "./listening-ports.ts";

/** A name that resolves to this machine, as an attacker can make their own name do. */
const reboundHost = "rebound.example";

const paths = ["/", "/api/v1/leads", "/docs/api-key.json"];

let run: BrowsedRun;
let ports: number[];
let site: Server;
let siteUrl: string;

beforeAll(async () => {
  run = await startBrowsedRun([
    `--host-resolver-rules=MAP ${reboundHost} 127.0.0.1`,
    // Other browsers, and older ones, do not keep pages from addresses of the machine.
    "--disable-features=LocalNetworkAccessChecks",
  ]);
  ports = listeningPorts(run.pid);
  site = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(buildPage(ports.flatMap((port) => paths.map((path) => `http://127.0.0.1:${port}${path}`))));
  });
  siteUrl = await listening(site);
});
afterAll(async () => {
  site?.close();
  await run?.stop();
});

async function storedItems() {
  const client = engineClient(run.dynamodbEndpoint);
  const { Items } = await client.send(new ScanCommand({ TableName: run.tableName }));
  client.destroy();
  return Items;
}

interface Attack {
  readonly url: string;
  readonly init: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
}

/** What a page can send to a port: reads and writes of DynamoDB, of the API and of the pages, with and without preflight. */
function attacks(base: string): Attack[] {
  const authorization =
    "AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=x";
  const item = { pk: { S: "LEAD#demo" }, sk: { S: "planted" } };
  const tableRequest = (operation: string, body: object): Attack => {
    const headers = {
      authorization,
      "x-amz-date": "20260101T000000Z",
      "x-amz-target": `DynamoDB_20120810.${operation}`,
      "content-type": "application/x-amz-json-1.0",
    };
    return { url: base, init: { method: "POST", headers, body: JSON.stringify(body) } };
  };
  const lead = JSON.stringify({ name: "Planted" });
  const leads = `${base}/api/v1/leads`;
  return [
    tableRequest("Scan", { TableName: run.tableName }),
    tableRequest("ListTables", {}),
    tableRequest("PutItem", { TableName: run.tableName, Item: item }),
    { url: `${base}/`, init: {} },
    { url: leads, init: { headers: { authorization: "Bearer x" } } },
    { url: leads, init: {} },
    { url: leads, init: { method: "POST", body: lead } },
    { url: leads, init: { method: "POST", body: lead, headers: { "content-type": "application/json" } } },
    { url: `${base}/docs`, init: {} },
    { url: `${base}/docs/api-key.json`, init: {} },
    { url: `${base}/docs/openapi.json`, init: {} },
  ];
}

/** Sends the requests from the page, also without CORS. @returns the texts that the page could read */
const readTexts = (page: Page, sent: readonly Attack[]) =>
  page.evaluate(async (requests) => {
    const texts: string[] = [];
    for (const { url, init } of requests) {
      for (const mode of ["cors", "no-cors"] as const) {
        const text = await fetch(url, { ...init, mode }).then(
          (response) => response.text(),
          () => "",
        );
        if (text) texts.push(`${url} ${text}`);
      }
    }
    return texts;
  }, sent as Attack[]);

/** A page that sends each target a form, and lists in `loaded` what it could load as a script or as an image. */
const buildPage = (targets: readonly string[]) => `<!doctype html><title>Another site</title>
<script>const loaded = [];</script>
${targets
  .map(
    (url) => `<iframe name="${url}"></iframe>
<form method="post" enctype="text/plain" action="${url}" target="${url}"><input name='{"name":"Planted","x":"' value='"}'></form>
<script src="${url}" onload="loaded.push(this.src)"></script>
<img src="${url}" onload="loaded.push(this.src)">`,
  )
  .join("\n")}
<script>for (const form of document.forms) form.submit();</script>`;

test.skipIf(!canFindPorts)(
  "npm start opens three ports: the gateway, the permission proxy and the engine",
  () => {
    expect(ports).toHaveLength(3);
    expect(ports).toEqual(
      expect.arrayContaining([run.url, run.dynamodbEndpoint].map((url) => Number(new URL(url).port))),
    );
  },
);

describe.skipIf(!canFindPorts)("a page of another site", () => {
  test("reads nothing and writes nothing through any port", async () => {
    const before = await storedItems();
    const page = await run.browser.newPage();
    await page.goto(siteUrl, { waitUntil: "networkidle" });
    // Its forms are sent, too.
    expect(page.frames()).toHaveLength(1 + ports.length * paths.length);
    const sent = ports.flatMap((port) => attacks(`http://127.0.0.1:${port}`));
    expect(await readTexts(page, sent)).toEqual([]);
    expect(await page.evaluate("loaded")).toEqual([]);
    expect(await storedItems()).toEqual(before);
  });

  test("reads only refusals and writes nothing under a name that resolves to this machine", async () => {
    const before = await storedItems();
    for (const port of ports) {
      const base = `http://${reboundHost}:${port}`;
      const page = await run.browser.newPage();
      // The page comes from the attacker's own server: the name resolves to this machine only afterwards.
      await page.route(`${base}/page`, (route) => route.fulfill({ contentType: "text/html", body: "" }));
      await page.goto(`${base}/page`);
      const refusal =
        /\{"message":"Forbidden"\}$|#AccessDeniedException","Message":"Web pages have no access\."\}$|"ValidationException","message":"Not supported\."\}$/;
      const texts = await readTexts(page, attacks(base));
      expect(texts.filter((text) => !refusal.test(text))).toEqual([]);
      const isEngine = run.dynamodbEndpoint.endsWith(`:${port}`);
      expect([port, texts.length > 0]).toEqual([port, !isEngine]);
    }
    expect(await storedItems()).toEqual(before);
  });
});
