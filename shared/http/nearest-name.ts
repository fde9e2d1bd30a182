import leven from "leven";

/** What other APIs call a parameter of a list, in letters alone. */
const otherNames: readonly (readonly [string, RegExp])[] = [
  ["page", /^(?:cursor|offset|skip|start|pagenumber|pagetoken|nexttoken|startingafter)$/],
  ["limit", /^(?:perpage|pagesize|size|count|top|maxresults)$/],
  ["sort", /^(?:order|orderby|ordering|sortby|sortorder|direction)$/],
  ["include", /^(?:expand|embed|with|messages)$/],
  ["lastMessageAfter", /^(?:since|(?:last)?(?:updated|modified|changed|activity)(?:after|since|from|min)?)$/],
  ["lastMessageBefore", /^(?:last)?(?:updated|modified|changed|activity)(?:before|until|to|max)$/],
  // Bare, "after" and "before" may mean a time or a row.
  ["createdAfter", /^(?:created)?(?:since|from|gte?|min)$/],
  ["createdBefore", /^(?:created)?(?:until|to|lte?|max)$/],
];

/**
 * The known name that is most likely meant by another one: at most a third of its letters differ, or they stand in
 * another order. Letter case and separators make no difference: `created_after` means `createdAfter`.
 *
 * @returns undefined if no known name is that near
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const letters = toLetters(name);
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
