/**
 * Serves the same pages from Postgres and by the handlers of this service. Fork this file, so that its client does not slow
 * it down, with the address of the Postgres in POSTGRES and the variables of a function. It sends its URL, and ends when it
 * is disconnected.
 */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import pg from "pg";
import { handler as authorize } from "../../../functions/authorize.ts";
import { handler as listLeads } from "../../../functions/list-leads.ts";
import type { AuthorizerContext } from "../../../shared/domain/api-keys.ts";
import type { RouteEvent } from "../../../shared/http/route-event.ts";
import { authorizerEvent, lambdaContext, routeEvent } from "../../support/requests/events.ts";
import { listening } from "../../support/requests/listening.ts";
import { limit } from "../pages/read-pages.ts";

// The defaults of Postgres plan for disks that seek and for idle cores.
const options = "-c random_page_cost=1.1 -c max_parallel_workers_per_gather=0";
const pool = new pg.Pool({ connectionString: process.env.POSTGRES, options });

/** Runs a statement. Each connection prepares it once. */
const query = async (name: string, text: string, ...values: unknown[]) =>
  (await pool.query({ name: `${name} ${values.length}`, text, values })).rows;

/** The columns of a lead, named as the fields of this service. */
const fields = `id, name, email, score, status, source, tags, created_at AS "createdAt", updated_at AS "updatedAt"`;

/** The body of a page with its total, or without one if it follows a row. */
type Respond = (authorization: string, search: URLSearchParams) => Promise<string>;

const fromPostgres: Respond = async (authorization, search) => {
  const hash = createHash("sha256").update(authorization.replace("Bearer ", "")).digest();
  const [key] = await query("key", "SELECT account FROM bench_keys WHERE hash = $1", hash);
  if (!key) throw new Error("No key has this hash.");
  const [page, source, after] = ["page", "source", "after"].map((name) => search.get(name));
  const values = [key.account, ...(source ? [source] : [])];
  const where = `FROM bench_leads WHERE account = $1${source ? " AND source = $2" : ""}`;
  const [last, order] = [`$${values.length + 1}`, `ORDER BY id DESC LIMIT ${limit}`];
  if (after)
    return JSON.stringify({
      data: await query("cursor", `SELECT ${fields} ${where} AND id < ${last} ${order}`, ...values, after),
    });
  const [data, [{ total }]] = await Promise.all([
    query("page", `SELECT ${fields} ${where} ${order} OFFSET ${last}`, ...values, (Number(page) - 1) * limit),
    query("total", `SELECT count(*)::int AS total ${where}`, ...values),
  ]);
  return JSON.stringify({ data, pagination: { page: Number(page), limit, total } });
};

/** Cached results of the authorizer. API Gateway also caches them, for a minute. */
const authorized = new Map<string, ReturnType<typeof authorize>>();

const fromTable: Respond = async (authorization, search) => {
  const result = authorized.get(authorization) ?? authorize(authorizerEvent(authorization));
  authorized.set(authorization, result);
  const { accountId: account, rateLimitRequests } = (await result).context as AuthorizerContext;
  const event = routeEvent("list-leads", {
    account,
    ...(rateLimitRequests && { rateLimitRequests }),
    query: search.toString(),
  });
  const response = await listLeads(event as RouteEvent, lambdaContext());
  return (response as APIGatewayProxyStructuredResultV2).body ?? "";
};

const server = createServer(async ({ url = "", headers: { authorization = "" } }, response) => {
  const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
  const respond = pathname === "/postgres" ? fromPostgres : fromTable;
  response.setHeader("content-type", "application/json").end(await respond(authorization, searchParams));
});
process.once("disconnect", () => process.exit());
process.send?.(await listening(server));
