import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { marshall } from "@aws-sdk/util-dynamodb";
import { leadItem } from "../../../shared/domain/leads.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";

/** A table of one account's leads, newest first: every query returns all of them, and there is no other item. */
const items = (workerData as readonly Lead[]).map((lead) =>
  marshall(leadItem("acme", lead), { removeUndefinedValues: true }),
);
const found = JSON.stringify({ Items: items, Count: items.length, ScannedCount: items.length });

const server = createServer((request, response) => {
  request.resume().once("end", () => {
    response.setHeader("content-type", "application/x-amz-json-1.0");
    response.end(String(request.headers["x-amz-target"]).endsWith(".Query") ? found : "{}");
  });
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
