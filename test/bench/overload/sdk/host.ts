/** What a simulated execution environment uses of the simulation around it. */
export interface Host {
  /** Makes one attempt of a table call. */
  attempt(command: object, abortSignal: AbortSignal | undefined): Promise<Record<string, unknown>>;
}
