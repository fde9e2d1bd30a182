/** The parameters of the SDK's endpoints that matter in the function's own region and AWS account. */
interface EndpointParameters {
  readonly Region: string;
  readonly UseFIPS: boolean;
  readonly UseDualStack: boolean;
  /** Of the variable `AWS_ENDPOINT_URL_DYNAMODB`, for example, or `AWS_ENDPOINT_URL`. */
  readonly Endpoint?: string;
}

/** The partitions of AWS by the prefix of their regions, with the domains of their endpoints and dual-stack endpoints. */
const partitions = [
  ["cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"],
  ["eusc-", "amazonaws.eu", "api.amazonwebservices.eu"],
  ["us-iso-", "c2s.ic.gov", "api.aws.ic.gov"],
  ["us-isob-", "sc2s.sgov.gov", "api.aws.scloud"],
  ["eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"],
  ["us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"],
  ["", "amazonaws.com", "api.aws"],
] as const;

/**
 * Finds the endpoints of a service. Replaces the SDK's rules for any service, resource and AWS account.
 *
 * Safe: functions call services of their own region and AWS account, and a test compares the endpoints with the SDK's in
 * every region that the CDK knows. Endpoints of one AWS account need its id in the credentials, which `credentials.ts`
 * does not give.
 *
 * @param service its name in the endpoints, such as `dynamodb`
 */
export const endpointResolver =
  (service: string) =>
  ({ Region, UseFIPS, UseDualStack, Endpoint }: EndpointParameters) => {
    if (Endpoint && (UseFIPS || UseDualStack))
      throw new Error("An endpoint that is set cannot be one for FIPS or dual stack, too.");
    const [, domain, dualStackDomain] = partitions.find(([prefix]) => Region.startsWith(prefix)) ?? [];
    // All endpoints of GovCloud without dual stack conform to FIPS, under their usual names.
    const fips = UseFIPS && (UseDualStack || !Region.startsWith("us-gov-")) ? "-fips" : "";
    const url = Endpoint ?? `https://${service}${fips}.${Region}.${UseDualStack ? dualStackDomain : domain}`;
    return { url: new URL(url), properties: {}, headers: {} };
  };
