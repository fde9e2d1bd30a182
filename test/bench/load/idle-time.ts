import { cpus } from "node:os";

/** Starts a watch on the machine's processors. @returns what tells the share of the time since that they were idle */
export function watchIdleTime(): () => number {
  const before = processorTime();
  return () => {
    const { idle, all } = processorTime();
    return (idle - before.idle) / (all - before.all);
  };
}

function processorTime() {
  const times = cpus().map(({ times }) => times);
  const idle = times.reduce((sum, { idle }) => sum + idle, 0);
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { idle, all };
}
