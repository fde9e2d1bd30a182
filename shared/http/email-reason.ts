/** What an address can have before its @, and each part of its domain. */
const notBeforeAt = /[^a-z0-9!#$%&'*+/=?^_`{|}~.-]/i;
const notInDomain = /[^a-z0-9.-]/i;

const looseDot = /^\.|\.\.|\.$/;
const looseHyphen = /(?:^|\.)-|-(?:\.|$)/;

/** An address and its parts before and after the first @. */
interface Parts {
  readonly address: string;
  readonly local: string;
  readonly domain: string;
}

type Rule = readonly [isBroken: (parts: Parts) => boolean, message: (parts: Parts) => string];

/** The rules of the validator's format `email`; each one relies on those before it. */
const rules: readonly Rule[] = [
  [({ address }) => address === "", () => "must not be empty"],
  [({ address }) => /\s/.test(address), () => "must not contain spaces or line breaks"],
  [
    ({ address }) => /[^!-~]/.test(address),
    () => "must have visible ASCII characters only, and an international domain in its xn-- form",
  ],
  [({ address }) => !address.includes("@"), () => "must have an @"],
  [({ domain }) => domain.includes("@"), () => "must be one address with one @"],
  [({ local }) => local === "", () => "must have a name before the @"],
  [({ domain }) => domain === "", () => "must have a domain after the @"],
  [
    ({ local }) => looseDot.test(local),
    () => "must not have a dot at the start, at the end or beside another dot before the @",
  ],
  [
    ({ local }) => notBeforeAt.test(local),
    ({ local }) => `must not contain ${notBeforeAt.exec(local)} before the @`,
  ],
  [
    ({ domain }) => !domain.includes("."),
    () => "must have a domain with a dot after the @, such as example.com",
  ],
  [
    ({ domain }) => looseDot.test(domain),
    () => "must not have a dot at the start, at the end or beside another dot after the @",
  ],
  [
    ({ domain }) => looseHyphen.test(domain),
    () => "must not have a hyphen at the start or the end of a part of its domain",
  ],
  [
    ({ domain }) => notInDomain.test(domain),
    ({ domain }) => `must not contain ${notInDomain.exec(domain)} after the @`,
  ],
];

/** Why an email address is refused; undefined for one that is valid. */
export function emailReason(address: string): string | undefined {
  const at = address.indexOf("@");
  const parts = { address, local: address.slice(0, at), domain: address.slice(at + 1) };
  return rules.find(([isBroken]) => isBroken(parts))?.[1](parts);
}
