/** A function has its region in a variable, or none: there is no instance to ask. */
export const getInstanceMetadataRegion = async () => undefined;
