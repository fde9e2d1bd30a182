/**
 * Node's own HTTP client, which the SDK uses here, gives neither streams of the web nor blobs. To ask for them would load
 * them.
 */
export const isReadableStream = () => false;

export const isBlob = () => false;
