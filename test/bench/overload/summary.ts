import type { Request } from "./request.ts";
import type { Simulation } from "./simulation.ts";

/** What became of requests of one kind, as shares from 0 to 1. */
export interface Shares {
  readonly requests: number;
  readonly answered: number;
  /** Refused by a documented 429 or 503. */
  readonly busy: number;
  /** The number, not the share, of lists with a wrong total or page. */
  readonly wrong: number;
  /** The number, not the share, of any other responses. */
  readonly failed: number;
}

export function shares(requests: readonly Request[]): Shares {
  const count = (wanted: Request["answer"]) => requests.filter(({ answer }) => answer === wanted).length;
  return {
    requests: requests.length,
    answered: count("answered") / requests.length,
    busy: count("busy") / requests.length,
    wrong: count("wrong"),
    failed: count("failed"),
  };
}

/** The value below which a share of the numbers lies; null without numbers, which JSON cannot tell from NaN. */
export function quantile(numbers: readonly number[], share: number): number | null {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}

/** What lists cost that were answered. */
export interface ListCosts {
  readonly units: { readonly median: number | null; readonly p99: number | null };
  /** Attempts of table calls. */
  readonly calls: { readonly median: number | null; readonly p99: number | null; readonly max: number };
}

export function listCosts(lists: readonly Request[]): ListCosts {
  const answered = lists.filter(({ answer }) => answer === "answered");
  const units = answered.map(({ readUnits }) => readUnits);
  const calls = answered.map(({ calls }) => calls);
  return {
    units: { median: quantile(units, 0.5), p99: quantile(units, 0.99) },
    calls: {
      median: quantile(calls, 0.5),
      p99: quantile(calls, 0.99),
      max: lists.reduce((most, { calls }) => Math.max(most, calls), 0),
    },
  };
}

/** The ages of an account's stream and tail every few seconds, in seconds since the start of the simulation. */
export interface Line {
  readonly seconds: readonly number[];
  readonly streamAge: readonly number[];
  readonly tailAge: readonly number[];
}

export function line(simulation: Simulation, account: string): Line {
  const samples = simulation.samples.get(account) ?? [];
  const first = samples[0]?.at ?? 0;
  const toSeconds = (milliseconds: number) => Math.round(milliseconds / 100) / 10;
  return {
    seconds: samples.map(({ at }) => toSeconds(at - first)),
    streamAge: samples.map(({ streamAge }) => toSeconds(streamAge)),
    tailAge: samples.map(({ tailAge }) => toSeconds(tailAge)),
  };
}

export const largest = (numbers: readonly number[]) => numbers.reduce((a, b) => Math.max(a, b), 0);
