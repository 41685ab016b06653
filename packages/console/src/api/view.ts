/**
 * The view of values that this page shows, until it is loaded again: 16 hexadecimal characters. The audit log has one event
 * for each connection or connector whose values are read in it.
 */
export const viewOfPage: string = [...crypto.getRandomValues(new Uint8Array(8))]
  .map((byte) => byte.toString(16).padStart(2, '0'))
  .join('')
