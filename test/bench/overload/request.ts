import { routeEvent } from "../../support/events.ts";
import type { FunctionPool, Served } from "./function-pool.ts";
import type { Landings } from "./landings.ts";
import { isRightPage, type Page, pageSize } from "./page-check.ts";

/** The response to a request. */
export type Answer = "answered" | "busy" | "wrong" | "failed";

/** A request to the API, as a client and the table saw it. */
export interface Request extends Readonly<Served> {
  readonly account: string;
  readonly kind: "create" | "list";
  /** The number of the page of a list; 0 for a create. */
  readonly page: number;
  readonly answer: Answer;
  /** In milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
}

interface Response {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export async function create(pool: FunctionPool, account: string, body: object) {
  const { result, served } = await pool.invoke(routeEvent("create-lead", { account, body }));
  const response = result as Response;
  return { answer: response.statusCode === 201 ? ("answered" as const) : refusal(response), served };
}

/** A page of an account's leads, or of those from a source. */
interface ListRequest {
  readonly account: string;
  readonly source: string | undefined;
  readonly page: number;
}

/** Requests a page and checks it. @param landings the rows of the list that have landed in the table */
export async function list(pool: FunctionPool, { account, source, page }: ListRequest, landings: Landings) {
  const query = `page=${page}&limit=${pageSize}${source === undefined ? "" : `&source=${source}`}`;
  const before = landings.count;
  const { result, served } = await pool.invoke(routeEvent("list-leads", { account, query }));
  const response = result as Response;
  if (response.statusCode !== 200) return { answer: refusal(response), served };
  const isRight = isRightPage(JSON.parse(response.body) as Page, page, landings, before);
  return { answer: isRight ? ("answered" as const) : ("wrong" as const), served };
}

/** A documented refusal says when to try again. */
const refusal = ({ statusCode, headers }: Response): Answer =>
  (statusCode === 429 || statusCode === 503) && /^\d+$/.test(headers["retry-after"] ?? "")
    ? "busy"
    : "failed";
