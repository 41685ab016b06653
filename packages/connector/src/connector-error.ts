import type { Role } from '@penstock/wire/rules'

/**
 * What went wrong, as an instruction to the engine. A connector throws one of these and nothing else; whatever else it
 * throws is taken for a defect, tried again a few times and then fails the transfer. A message tells a person what
 * happened and what to do next; it never holds a secret, a whole answer of a platform, or a value of a row.
 */
export type Instruction =
  /** Trouble that passes (too many requests, a fault of the platform, a reset): wait, then the same again. */
  | 'retry'
  /** Nothing answers. Tried again like `retry`; if it lasts, the connection goes offline until a probe gets through. */
  | 'unreachable'
  /** The platform refused the batch as a whole and did not say which row is to blame: halve it, down to one row. */
  | 'split'
  /** Credentials are wrong, permission is missing or a setting names what is not there: the connection is broken. */
  | 'refused'
  /** This transfer cannot be done, and the connection is not to blame: a file that is not what it should be. */
  | 'failed'

export class Outcome extends Error {
  override readonly name = 'Outcome'
  readonly instruction: Instruction
  /** A short stable name, in snake case, for programs: `invalid_credentials`, `object_not_found`. */
  readonly code: string
  /** For `retry`: how long the platform asks to wait, in milliseconds. */
  readonly afterMs: number | undefined
  /** The side of the connection that it happened at, where it did at one. The engine says so, not the connector. */
  readonly side: Role | undefined

  constructor(
    instruction: Instruction,
    code: string,
    message: string,
    options: ErrorOptions & { afterMs?: number; side?: Role } = {},
  ) {
    super(message, options)
    this.instruction = instruction
    this.code = code
    this.afterMs = options.afterMs
    this.side = options.side
  }
}

/** Whatever a promise of a connector was rejected with, as an outcome; `undefined` for a defect. */
export const asOutcome = (error: unknown): Outcome | undefined => (error instanceof Outcome ? error : undefined)
