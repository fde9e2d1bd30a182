// Loads a bundle in this new process. Writes what that took to file descriptor 3 as JSON, in milliseconds.
const { writeSync } = require("node:fs");

const [, , bundle] = process.argv;

// Lambda's runtime has a console of its own before it loads a function; Node prepares one for the first line.
console.info("loads");

const before = process.cpuUsage();
const start = performance.now();
require(bundle);
const { user, system } = process.cpuUsage(before);
writeSync(3, JSON.stringify({ processor: (user + system) / 1000, wall: performance.now() - start }));
process.exit();
