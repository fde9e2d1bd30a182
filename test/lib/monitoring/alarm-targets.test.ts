import { expect, test } from "vitest";
import { synthesize } from "../../support/synthesize.ts";
import { readAlarms } from "./support/alarms.ts";

const { template } = await synthesize("prod");

test("By default alarms are sent to nobody", () => {
  for (const alarm of readAlarms(template).values()) {
    expect(alarm).not.toHaveProperty("AlarmActions");
    expect(alarm).not.toHaveProperty("OKActions");
  }
});

test("Alarms are sent to an existing topic when raised and when cleared", async () => {
  const alarmsTo = "arn:aws:sns:eu-west-1:123456789012:alarms";
  const { template: changed } = await synthesize("prod", { alarmsTo });
  for (const alarm of readAlarms(changed).values()) {
    expect(alarm).toMatchObject({ AlarmActions: [alarmsTo], OKActions: [alarmsTo] });
  }
});
