import { hash } from 'node:crypto'
import { type Chunk, type Row, rawOf, type Values } from '@penstock/connector'
import { namesIn } from '../../../settings.ts'
import { skipCode } from '../../../skipped.ts'
import { inSlices } from '../../../slices.ts'
import type { InvalidRow, MappedChunk } from '../../filled-batch.ts'

/** A control group, as the settings of a destination describe it. */
export type ControlGroup = {
  /** Source columns that identify a person. */
  readonly key: readonly string[]
  readonly salt: string
  /** 0 to 50. */
  readonly percent: number
  /** Whether only the control group is sent; otherwise everyone else is. */
  readonly isSent: boolean
}

/** The control group of a connection; `undefined` if the connection has no control group. */
export function controlGroupOf({
  controlGroup,
  controlKey,
  controlPercent,
  controlSalt,
}: Values): ControlGroup | undefined {
  if (controlGroup !== 'LeaveOut' && controlGroup !== 'Only') return undefined
  return {
    key: namesIn(controlKey),
    salt: String(controlSalt ?? ''),
    percent: Number(controlPercent ?? 0),
    isSent: controlGroup === 'Only',
  }
}

/**
 * The key of a row as one text, its values separated by `|`. @param indexes of the key columns
 * @returns `undefined` if a value is missing
 */
export function keyTextOf(row: Row, indexes: readonly number[]): string | undefined {
  let text = ''
  for (const [n, index] of indexes.entries()) {
    const value = String(row[index] ?? '')
    if (value === '') return undefined
    text += n === 0 ? value : `|${value}`
  }
  return text
}

const digits = 12

/**
 * Returns whether a key belongs to the control group: whether the first 48 bits of SHA-256 of salt, `|` and key are below the share.
 * So the answer depends on nothing else, and a greater share only adds keys.
 */
export function controlMembership({ salt, percent }: Pick<ControlGroup, 'salt' | 'percent'>): (key: string) => boolean {
  const below = (percent / 100) * 16 ** digits
  // Four times as fast as reading the number from a buffer.
  return (key) => Number.parseInt(hash('sha256', `${salt}|${key}`, 'hex').slice(0, digits), 16) < below
}

const leftOut = skipCode('controlGroup')
const filtered = skipCode('filtered')

/**
 * Skips the control group, or everyone else. Rejects rows without a key. Rows to be removed at the destination pass.
 * @param isMember the function of `controlMembership`
 */
export async function divideRows(
  { key, isSent }: Pick<ControlGroup, 'key' | 'isSent'>,
  isMember: (key: string) => boolean,
  mapped: MappedChunk,
  { columns, errors: broken, removed }: Pick<Chunk, 'columns' | 'errors' | 'removed'>,
): Promise<MappedChunk> {
  const indexes = key.map((name) => columns.indexOf(name))
  const rows = rawOf(mapped.rows)?.openedBy(key) ?? mapped.rows
  const skipped = mapped.skipped?.slice() ?? new Uint8Array(rows.length)
  const errors = new Map(mapped.errors)
  await inSlices(rows.length, (from, until) => {
    for (let at = from; at < until; at++) {
      if (skipped[at] !== 0 || errors.has(at) || broken?.has(at) || removed?.has(at)) continue
      const text = keyTextOf(rows[at] ?? [], indexes)
      if (text === undefined) errors.set(at, { ...noKey, reason: `${noKey.reason}${key.join(', ')}` })
      else if (isMember(text) !== isSent) skipped[at] = isSent ? filtered : leftOut
    }
  })
  return { ...mapped, errors, skipped }
}

const noKey: InvalidRow['error'] = {
  field: 'controlKey',
  reason: 'The row has no value in a key column of the control group: ',
}
