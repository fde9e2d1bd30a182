/** How long an operator's change may take while other writers stand in its way, in milliseconds. */
const patience = 10_000;

/** When a change that begins now is given up, in milliseconds since the epoch. */
export const deadline = () => Date.now() + patience;
