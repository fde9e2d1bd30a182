import { number, table } from "../../markdown.ts";
import type { Writing } from "../writes/write-cost.ts";
import { both } from "./format.ts";

/** The cost of changes, and of counting them. */
export const writesTable = (writings: readonly Writing[]) =>
  table(
    [
      "",
      "number",
      "write units",
      "read units",
      "counting: write units",
      "read units",
      "an invocation of the maintainer: write units",
      "read units",
      "largest transaction",
    ],
    writings.map((writing) => [
      writing.what,
      number(writing.count),
      number(writing.write),
      number(writing.read),
      number(writing.extraWrite, 2),
      number(writing.extraRead, 2),
      both(writing.oneWrite),
      both(writing.oneRead),
      writing.largestTransaction,
    ]),
  );
