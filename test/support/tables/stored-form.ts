/** The stored form of a label: the steps that docs/usage.md names, until they change nothing. */
export function storedForm(label: string): string {
  const next = label
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]/gu, "")
    .trim();
  return next === label ? label : storedForm(next);
}
