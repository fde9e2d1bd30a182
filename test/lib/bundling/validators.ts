/** The validators that their test bundles. */
export { validateCreateLead } from "../../../shared/http/route-validators.ts";
export { validateLead } from "../../../shared/schemas/record-validators.ts";
