// Loads a bundle in this new process. Writes the processor time that loading took, in milliseconds, to file descriptor 3.
const { writeSync } = require("node:fs");

const [, , bundle] = process.argv;

// Lambda's runtime sets up its own console before it loads a function. Node sets up its console for the first line.
console.info("loads");

const before = process.cpuUsage();
require(bundle);
const { user, system } = process.cpuUsage(before);
writeSync(3, String((user + system) / 1000));
process.exit();
