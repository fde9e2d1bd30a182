import { inject } from "vitest";

const { endpoints } = inject("engine");

/** Where the engine of this worker listens. */
export const engineEndpoint = String(endpoints[Number(process.env.VITEST_POOL_ID) % endpoints.length]);
