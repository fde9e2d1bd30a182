import type { Options } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";

/** Ajv's options for the schemas of requests, wherever they are compiled. */
export const validation = {
  allErrors: true,
  strict: true,
  strictTypes: false,
  ownProperties: true,
  formats: { email: fullFormats.email, "date-time": true },
} as const satisfies Options;
