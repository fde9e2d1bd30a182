/** The page with the current rows in its table of that name. @throws Error without the marks around it */
export function withTable(page: string, name: string, rows: readonly (readonly string[])[]): string {
  const [begin, end] = [`<!-- ${name}: npm run tables -->`, `<!-- end of ${name} -->`];
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The page has no ${begin} … ${end}.`);
  const [header = [], ...others] = rows;
  const lines = [header, header.map(() => "---"), ...others].map((cells) => `| ${cells.join(" | ")} |`);
  return `${before}${begin}\n\n${lines.join("\n")}\n\n${end}${after}`;
}
