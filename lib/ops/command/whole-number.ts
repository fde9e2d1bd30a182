import { InvalidArgumentError } from "commander";

/** A parser of whole numbers in a range. @param sentence what is said of any other text */
export const wholeNumber = (least: number, most: number, sentence: string) => (text: string) => {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new InvalidArgumentError(sentence);
};
