/** Bounds of the protocol. */
export const protocolLimits = {
  /** Text of rejected rows, or of parts, in one message, in characters; a message over it is parsed too long. */
  messageItemsLengthMax: 512 * 1024,
  /** A rejected row whose JSON text is longer is counted and shown, and not kept whole. */
  rawLengthMax: 256 * 1024,
  /** How often a busy runner reports that its event loop turns, in milliseconds. */
  aliveMs: 1_000,
} as const
