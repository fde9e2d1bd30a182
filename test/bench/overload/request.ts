import { routeEvent } from "../../support/events.ts";
import type { FunctionPool } from "./function-pool.ts";

/** The response to a request. */
export type Answer = "answered" | "busy" | "wrong" | "failed";

/** A request to the API, as a client and the table saw it. */
export interface Request {
  readonly account: string;
  readonly kind: "create" | "list";
  /** The number of the page of a list; 0 for a create. */
  readonly page: number;
  readonly answer: Answer;
  /** In milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  /** The attempts of table calls, throttled ones included. */
  readonly calls: number;
  readonly readUnits: number;
}

interface Response {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The parts of a page of leads that are checked. */
interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly pagination: { readonly total: number };
}

/** How many leads a page has. */
export const pageSize = 20;

export async function create(pool: FunctionPool, account: string, body: object) {
  const { result, served } = await pool.invoke(routeEvent("create-lead", { account, body }));
  const response = result as Response;
  return { answer: response.statusCode === 201 ? ("answered" as const) : refusal(response), served };
}

/**
 * Requests a page of an account's leads and checks it: its total lies between the leads that had landed when it was
 * requested and those that had landed when it was answered, and it has as many leads as it must, newest first.
 *
 * @param landed the number of leads that the table has now
 */
export async function list(pool: FunctionPool, account: string, page: number, landed: () => number) {
  const query = `page=${page}&limit=${pageSize}`;
  const before = landed();
  const { result, served } = await pool.invoke(routeEvent("list-leads", { account, query }));
  const response = result as Response;
  if (response.statusCode !== 200) return { answer: refusal(response), served };
  const isRight = checkPage(JSON.parse(response.body) as Page, page, before, landed());
  return { answer: isRight ? ("answered" as const) : ("wrong" as const), served };
}

function checkPage({ data, pagination }: Page, page: number, least: number, most: number): boolean {
  const { total } = pagination;
  const rows = (all: number) => Math.min(pageSize, Math.max(0, all - (page - 1) * pageSize));
  return (
    total >= least &&
    total <= most &&
    data.length >= rows(least) &&
    data.length <= rows(most) &&
    data.every(({ id }, at) => at === 0 || id < (data[at - 1]?.id ?? ""))
  );
}

/** A documented refusal says when to try again. */
const refusal = ({ statusCode, headers }: Response): Answer =>
  statusCode === 503 && /^\d+$/.test(headers["retry-after"] ?? "") ? "busy" : "failed";
