import { cpus } from "node:os";

/** Starts measuring the machine's processors. @returns a function for the share of time that they were idle since */
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
