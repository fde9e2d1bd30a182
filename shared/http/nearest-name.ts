import leven from "leven";

const changedSince = /^(?:since|(?:last)?(?:updated|modified|changed|activity)(?:after|since|from|min|at)?)$/;
const changedUntil = /^(?:last)?(?:updated|modified|changed|activity)(?:before|until|to|max)$/;
const phone = /^(?:phone|mobile|tel|telephone|whatsapp|instagram)(?:number|id)?$/;

/** What other APIs call a parameter or a field, in letters alone. */
const otherNames: readonly (readonly [string, RegExp])[] = [
  ["page", /^(?:cursor|offset|skip|start|pagenumber|pagetoken|nexttoken|startingafter)$/],
  ["limit", /^(?:perpage|pagesize|size|count|top|maxresults)$/],
  ["sort", /^(?:order|orderby|ordering|sortby|sortorder|direction)$/],
  ["include", /^(?:expand|embed|with|messages)$/],
  ["updatedAfter", changedSince],
  ["updatedBefore", changedUntil],
  ["lastMessageAfter", changedSince],
  ["lastMessageBefore", changedUntil],
  ["messagesBefore", /^(?:before|messagesafter)$/],
  // Bare, "after" may mean a time or a row.
  ["createdAfter", /^(?:created)?(?:since|from|gte?|min)$/],
  ["createdBefore", /^(?:created)?(?:until|to|lte?|max)$/],
  ["id", /^(?:lead|conversation|message)id$/],
  ["leadId", /^(?:lead|conversationid|to)$/],
  ["externalId", /^(?:identifier|reference|crmid)$/],
  ["source", /^(?:lead|utm)source$/],
  ["name", /^(?:full|contact|lead|display)name$/],
  ["email", /^(?:contact)?e?mail(?:address)?$/],
  ["addresses", phone],
  ["address", phone],
  ["tags", /^labels?$/],
  ["metadata", /^(?:custom(?:fields|data|properties)?|attributes|properties|fields)$/],
];

/**
 * The known name that is most likely meant by another one: at most a third of its letters differ, or they stand in
 * another order. Letter case and separators make no difference: `created_after` means `createdAfter`.
 *
 * @returns undefined if no known name is that near
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const letters = toLetters(name);
  const same = known.find((candidate) => toLetters(candidate) === letters);
  if (same !== undefined) return same;
  const other = otherNames.find(([meant, names]) => known.includes(meant) && names.test(letters));
  if (other) return other[0];
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const differences = countDifferences(letters, toLetters(candidate));
    if (differences < fewest) [nearest, fewest] = [candidate, differences];
  }
  return nearest;
}

const toLetters = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** How many letters differ; infinitely many if the names are not near. */
function countDifferences(name: string, candidate: string): number {
  const most = Math.floor(Math.max(name.length, candidate.length) / 3);
  // Past its limit, leven returns the limit.
  const differences = leven(name, candidate, { maxDistance: most + 1 });
  return differences <= most || isReordered(name, candidate) ? differences : Number.POSITIVE_INFINITY;
}

/** A name can be very long: only one that is as short as a known one is sorted. */
const isReordered = (name: string, candidate: string) =>
  name.length === candidate.length && sortLetters(name) === sortLetters(candidate);

const sortLetters = (name: string) => [...name].sort().join("");
