/**
 * Whether an `Accept-Encoding` accepts gzip and does not prefer the plain body.
 *
 * @param header as API Gateway passes it: a header that was sent several times is one, joined with commas
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3
 */
export function acceptsGzip(header: string): boolean {
  const weights = new Map(header.toLowerCase().split(",").map(readCoding));
  const others = weights.get("*") ?? 0;
  const gzip = weights.get("gzip") ?? others;
  return gzip > 0 && gzip >= (weights.get("identity") ?? others);
}

/** Reads `gzip` or `gzip;q=0.5`. The weight of what is not a number is NaN, which is neither above nor below any other. */
function readCoding(text: string): [coding: string, weight: number] {
  const [coding = "", ...parameters] = text.split(";").map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  return [coding, weight === undefined ? 1 : Number.parseFloat(weight.slice("q=".length))];
}
