/** The stages in which the service is deployed, side by side. */
export const stages = ["dev", "prod"] as const;

export type Stage = (typeof stages)[number];

/** The name of a stage's table, by which the operator's commands find it. */
export const stageTableName = (stage: Stage) => `leads-and-conversations-${stage}`;
