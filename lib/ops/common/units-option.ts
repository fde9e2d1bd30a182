import { Option } from "commander";
import { defaultUnits } from "../../../shared/dynamodb/pace.ts";
import { wholeNumber } from "./whole-number.ts";

/** The option that sets the pace of a command. */
export const unitsOption = () =>
  new Option("--units <n>", "the most read units to use per second")
    .default(defaultUnits)
    .argParser(wholeNumber(1, 9_999_999, "Units are a whole number above 0."));
