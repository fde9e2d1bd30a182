/** How much of a name that the caller made up is given back, in UTF-16 units. */
const maxNameLength = 64;

/**
 * The name of a member of what is named `parent`: `tags`, then `tags[3]`. An empty name is shown as `""`, so that it is
 * not taken for the whole body, whose name is empty; a long name is cut.
 *
 * @param parent undefined for the whole
 */
export function memberName(parent: string | undefined, member: string | number): string {
  const isName = parent === undefined && typeof member === "string";
  const name = isName ? member || '""' : `${parent ?? ""}[${member}]`;
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
}
