import { expect, test } from "vitest";
import { normalizeLabel, notBlank } from "../../shared/normalize-label.ts";
import { storedForm } from "../support/stored-form.ts";

test("the stored form of each character is its own, also beside others, and is empty if the character is blank", () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    if (!character.isWellFormed()) continue;
    for (const name of [character, `J${character}\u030c`, `${character}\u034f\u0301a`, `\u0399 ${character}`])
      if (normalizeLabel(name) !== storedForm(name)) expect.fail(JSON.stringify(name));
    if ((normalizeLabel(character) === "") === notBlank.test(character))
      expect.fail(JSON.stringify(character));
  }
});
