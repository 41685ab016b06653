/**
 * Which transactions the copy of a table has seen. The changes of these come out of the slot as well if it is older than the
 * copy, and are left out, so that each change has one effect.
 */

/** A snapshot of PostgreSQL, as `pg_current_snapshot()` writes it: `xmin:xmax:xid,xid`. */
export type Snapshot = { readonly xmin: bigint; readonly xmax: bigint; readonly running: ReadonlySet<bigint> }

/** Reads the text of a snapshot; `undefined` if it is none. */
export function snapshotIn(text: string): Snapshot | undefined {
  const parts = /^(\d{1,20}):(\d{1,20}):((?:\d{1,20}(?:,\d{1,20})*)?)$/.exec(text)
  if (!parts) return undefined
  const [, xmin = '0', xmax = '0', running = ''] = parts
  return {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    running: new Set(running === '' ? [] : running.split(',').map(BigInt)),
  }
}

const span = 1n << 32n

/**
 * Whether a snapshot has seen a committed transaction.
 * @param xid its 32 bits: the transaction that is meant is within two billions of the snapshot
 */
export function hasSeen({ xmin, xmax, running }: Snapshot, xid: number): boolean {
  const whole = wholeOf(BigInt(xid), xmax)
  return whole < xmin || (whole < xmax && !running.has(whole))
}

/** The identifier with its epoch: the one nearest to another. */
function wholeOf(xid: bigint, near: bigint): bigint {
  const guess = (near & ~(span - 1n)) | xid
  if (guess - near > span / 2n) return guess - span
  if (near - guess > span / 2n) return guess + span
  return guess
}

/** An LSN as PostgreSQL writes it: `16/B374D848`. */
export const lsnText = (lsn: bigint): string =>
  `${(lsn >> 32n).toString(16).toUpperCase()}/${(lsn & 0xffffffffn).toString(16).toUpperCase()}`

/** The number of an LSN; `undefined` if the text is none. */
export function lsnIn(text: unknown): bigint | undefined {
  const parts = typeof text === 'string' ? /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text) : null
  return parts ? (BigInt(`0x${parts[1]}`) << 32n) | BigInt(`0x${parts[2]}`) : undefined
}
