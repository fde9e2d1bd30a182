import { expect, test } from "vitest";
import { normalizeLabel, notBlank } from "../../shared/normalize-label.ts";
import { part } from "../support/cases/part.ts";
import { storedForm } from "../support/tables/stored-form.ts";

// The characters of another plane are similar: ideographs, private-use characters, or none yet.
const planes = [0, 1, 14, ...part([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16], 14)];

test.each(
  planes,
)("each character of plane %i has its documented stored form, also beside others, which is empty for a blank character", (plane) => {
  for (let code = plane * 0x10000; code < (plane + 1) * 0x10000; code++) {
    const character = String.fromCodePoint(code);
    if (!character.isWellFormed()) continue;
    for (const name of [character, `J${character}\u030c`, `${character}\u034f\u0301a`, `\u0399 ${character}`])
      if (normalizeLabel(name) !== storedForm(name)) expect.fail(JSON.stringify(name));
    if ((normalizeLabel(character) === "") === notBlank.test(character))
      expect.fail(JSON.stringify(character));
  }
});
