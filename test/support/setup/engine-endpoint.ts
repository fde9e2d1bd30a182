import { inject } from "vitest";

const { endpoints } = inject("engine");

/** The endpoint of the engine that this worker uses. */
export const engineEndpoint = String(endpoints[Number(process.env.VITEST_POOL_ID) % endpoints.length]);
