import leven from "leven";

const changedSince = /^(?:since|(?:last)?(?:updated|modified|changed|activity)(?:after|since|from|min|at)?)$/;
const changedUntil = /^(?:last)?(?:updated|modified|changed|activity)(?:before|until|to|max)$/;
const phone =
  /^(?:contact|primary|main|work|business|home|mobile|cell)?(?:phone|mobile|cell|tel|telephone|whatsapp|instagram|sms)(?:number|no|id|handle)?(?:mobile|work|home|other|\d(?:value)?)?$/;

/** Names that other programs use for a parameter, a field or a column of a file, without case and separators. */
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
  // A bare "after" is missing here, because it may mean a time or a row.
  ["createdAfter", /^(?:created)?(?:since|from|gte?|min)$/],
  ["createdBefore", /^(?:created)?(?:until|to|lte?|max)$/],
  ["id", /^(?:lead|conversation|message)id$/],
  ["leadId", /^(?:lead|conversationid|to)$/],
  ["externalId", /^(?:identifier|(?:crm|lead|contact|record|customer|subscriber|response)?id)$/],
  ["source", /^(?:lead|contact|traffic|original|utm)source$/],
  ["status", /^(?:lead|contact)(?:status|stage)$/],
  [
    "createdAt",
    // The other verbs need a word of time: alone, they name yes-or-no columns.
    /^(?:(?:person)?created|date(?:created|added|submitted)|(?:creat(?:ed?|ion)|add(?:ed)?|submit(?:ted)?|connected|optin)(?:at|on|date|time))(?:utc)?$/,
  ],
  ["name", /^(?:full|contact|lead|display|first|given|middle|additional|last|family|sur)name$/],
  ["email", /^(?:contact|primary|work|business)?e?mail(?:address)?(?:work|home|other|1(?:value)?)?$/],
  ["addresses", phone],
  ["address", phone],
  ["tags", /^(?:(?:lead|contact)?tags?|labels?|groupmembership)$/],
  ["metadata", /^(?:custom(?:fields|data|properties)?|attributes|properties|fields)$/],
];

/**
 * The known name that a given name most likely means: at most a third of the letters differ, or only their order. Letter
 * case and separators make no difference: `created_after` means `createdAfter`.
 *
 * @returns undefined if no known name is that near
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const same = knownName(name, known);
  if (same !== undefined) return same;
  const letters = toLetters(name);
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const differences = countDifferences(letters, toLetters(candidate));
    if (differences < fewest) [nearest, fewest] = [candidate, differences];
  }
  return nearest;
}

/** The known name that a given name is another spelling or a synonym of. */
export function knownName(name: string, known: readonly string[]): string | undefined {
  const letters = toLetters(name);
  const same = known.find((candidate) => toLetters(candidate) === letters);
  return same ?? otherNames.find(([meant, names]) => known.includes(meant) && names.test(letters))?.[0];
}

const toLetters = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** How many letters differ; infinitely many if the names are not near. */
function countDifferences(name: string, candidate: string): number {
  const most = Math.floor(Math.max(name.length, candidate.length) / 3);
  // Past its limit, leven returns the limit.
  const differences = leven(name, candidate, { maxDistance: most + 1 });
  return differences <= most || isReordered(name, candidate) ? differences : Number.POSITIVE_INFINITY;
}

/** Whether only the order of the letters differs. The lengths come first, so that a very long name is not sorted. */
const isReordered = (name: string, candidate: string) =>
  name.length === candidate.length && sortLetters(name) === sortLetters(candidate);

const sortLetters = (name: string) => [...name].sort().join("");
