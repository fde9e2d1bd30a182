import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (page: string) => readFileSync(join(root, page), "utf8");
const pages = globSync(["*.md", "docs/{,*/}*.md", "lib/openapi/*.md"], { cwd: root });

/** What a link to a page can name after `#`: a heading, as GitHub writes it, or an anchor of its own. */
function anchorsOf(page: string): readonly string[] {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return [...headings, ...[...read(page).matchAll(/<a id="(.+?)"/g)].map(([, id = ""]) => id)];
}

const anchors = new Map(pages.map((page) => [page, anchorsOf(page)]));

test.each(pages)("%s links to and names only what exists", (page) => {
  const isMissing = (link: string) => {
    const [path, anchor] = link.split("#");
    const target = path ? join(dirname(page), path) : page;
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && target.endsWith(".md") && !anchors.get(target)?.includes(anchor);
  };
  const links = [...read(page).matchAll(/\]\(([^)\s:]+)\)/g)].map(([, link = ""]) => link);
  expect(links.filter(isMissing)).toEqual([]);
  const files = [...read(page).matchAll(/`((?:bin|docs|functions|lib|shared|test)\/[\w./-]+\.\w+)`/g)];
  expect(files.flatMap(([, file = ""]) => (existsSync(join(root, file)) ? [] : file))).toEqual([]);
});
