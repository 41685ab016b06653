import type { KeyTable } from './key-table.ts'

/** The keys of a transfer, for all sessions of one runner. */
export class DuplicateKeys {
  /** Maximum memory for keys, in bytes. */
  readonly bytesMax: number
  table: KeyTable | undefined
  /** The session that uses them: an ended session may still read ahead. */
  owner: object | undefined
  /** Number of records that were read in advance; `undefined`: all, or not known yet. */
  surveyed: number | undefined
  isSurveyed = false
  /** The last record that was marked, and the last record to remove. */
  until = 0
  removedUntil = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  /** Forgets everything. */
  clear(): void {
    this.table?.clear()
    this.surveyed = undefined
    this.isSurveyed = false
    this.until = 0
    this.removedUntil = 0
  }
}
