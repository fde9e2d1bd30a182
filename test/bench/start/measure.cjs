// Loads a bundle in this new process and, with an event, invokes its handler. Writes to file descriptor 3 as JSON, in
// milliseconds: what loading took, and what the process took from its start to the handler's response.
const { writeSync } = require("node:fs");

const [, , bundle, event] = process.argv;
const processor = (usage) => (usage.user + usage.system) / 1000;

// Lambda's runtime has a console of its own before it loads a function; Node prepares one for the first line.
console.info("loads");

const before = process.cpuUsage();
const start = performance.now();
const { handler } = require(bundle);
const load = { processor: processor(process.cpuUsage(before)), wall: performance.now() - start };

const context = { awsRequestId: "invocation-1", getRemainingTimeInMillis: () => 10_000 };

async function respond() {
  if (event === undefined) return undefined;
  const response = await handler(JSON.parse(event), context);
  // Counted from the start of the process.
  const first = { processor: processor(process.cpuUsage()), wall: performance.now() };
  if (response?.statusCode >= 300) throw new Error(`The handler responded: ${JSON.stringify(response)}`);
  return first;
}

respond().then((first) => {
  writeSync(3, JSON.stringify({ load, first }));
  process.exit();
});
