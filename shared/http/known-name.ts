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
 * The known name that a given name is another spelling or a synonym of. Letter case and separators make no difference:
 * `created_after` means `createdAfter`.
 */
export function knownName(name: string, known: readonly string[]): string | undefined {
  const letters = toLetters(name);
  const same = known.find((candidate) => toLetters(candidate) === letters);
  return same ?? otherNames.find(([meant, names]) => known.includes(meant) && names.test(letters))?.[0];
}

const toLetters = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
