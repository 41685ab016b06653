import { type Row, rawOf } from '@penstock/connector'

/** Memory of a cell, in addition to its text. */
const cellBytes = 24
const sampleRows = 32

/** Approximate memory of each row, estimated from a few of them. */
export function memoryBytesOf(rows: readonly Row[]): number {
  const raw = rawOf(rows)
  // They are kept as they came.
  if (raw) return Math.max(1, raw.bytes / rows.length)
  const step = Math.ceil(rows.length / sampleRows)
  let sampled = 0
  let bytes = 0
  for (let at = 0; at < rows.length; at += step) {
    sampled++
    for (const cell of rows[at] ?? []) bytes += cellBytes + (typeof cell === 'string' ? cell.length : 0)
  }
  return Math.max(1, bytes / sampled)
}
