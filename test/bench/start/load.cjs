// Prints how long a new process takes to load the bundle, in milliseconds.
const start = process.hrtime.bigint();
require(process.argv[2]);
console.log(Number(process.hrtime.bigint() - start) / 1e6);
