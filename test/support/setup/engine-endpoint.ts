import { inject } from "vitest";

const { endpoints } = inject("engine");

/** Where the engine that this worker uses listens. */
export const engineEndpoint = String(endpoints[Number(process.env.VITEST_POOL_ID) % endpoints.length]);
