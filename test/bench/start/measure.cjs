// Loads a bundle in this new process. Writes to file descriptor 3 how many milliseconds of the processor that took.
const { writeSync } = require("node:fs");

const [, , bundle] = process.argv;

// Lambda's runtime has a console of its own before it loads a function; Node prepares one for the first line.
console.info("loads");

const before = process.cpuUsage();
require(bundle);
const { user, system } = process.cpuUsage(before);
writeSync(3, String((user + system) / 1000));
process.exit();
