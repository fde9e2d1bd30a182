import { Command } from "commander";
import { verifyCommand } from "./counts-verify.ts";

/** `counts verify`: the counts that page the lists of an account. */
export const countsCommand = (): Command =>
  new Command("counts").description("verify the counts of an account's lists").addCommand(verifyCommand());
