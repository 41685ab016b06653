/** Bounds of the protocol. */
export const protocolLimits = {
  /** Characters of the text of rejected rows, or of parts, in one message. Parsing a longer message would take too long. */
  messageItemsLengthMax: 512 * 1024,
  /** A rejected row with a longer JSON text is counted and shown, but not kept whole. */
  rawLengthMax: 256 * 1024,
  /** How often a busy runner reports that its event loop turns, in milliseconds. */
  aliveMs: 1_000,
} as const
