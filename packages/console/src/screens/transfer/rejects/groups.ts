import type { ConnectionDetails, Reject } from '@penstock/wire'
import { readMapping } from '../../new-connection/mapping/mapping.ts'
import { clearestOf, type Fault, faultOf, keyOfFault } from './fault.ts'

/** Rejected rows that have the same fault, and the column of the source that caused it. */

export type ReasonGroup = {
  /** Identifies the reason in the address. */
  readonly key: string
  readonly fault: Fault
  /** The field of the destination; null if it is not known. */
  readonly field: string | null
  /** The column of the source that holds the wrong value; undefined if it is not known. */
  readonly column: string | undefined
  /** Values that a row has and that it needs, if the number of its values is wrong. */
  readonly shape: Shape | undefined
  /** Whether all of them have as many values. */
  readonly hasOneShape: boolean
  readonly rejects: readonly Reject[]
  /** How many rows these are. */
  readonly count: number
  /** Different values of the column, the most frequent first. */
  readonly values: readonly (readonly [value: string | null, count: number])[]
}

/** How many values a row has, and how many the header has. */
export type Shape = { readonly has: number; readonly needs: number }

const wrongShape = /^The row has (\d+) values?, but the header has (\d+)\.$/

/** The shape of a row whose number of values is wrong; undefined for other rows. */
export function shapeOf({ structural, reason }: Pick<Reject, 'structural' | 'reason'>): Shape | undefined {
  const found = structural ? wrongShape.exec(reason) : null
  return found ? { has: Number(found[1]), needs: Number(found[2]) } : undefined
}

export type FieldOfRecord = Pick<Reject, 'field' | 'record'>

/** The columns of the source that hold wrong values, the first fault first. */
export function faultyColumns(
  { field, record, otherFaults = [] }: Pick<Reject, 'field' | 'record' | 'otherFaults'>,
  columnOf: (fault: FieldOfRecord) => string | undefined,
): readonly string[] {
  const found = [field, ...otherFaults.map((fault) => fault.field)].map((name) => columnOf({ field: name, record }))
  return [...new Set(found)].filter((column) => column !== undefined)
}

type Faults = Pick<Reject, 'field' | 'record' | 'reason' | 'otherFaults'>

/** The faults that the last replay found, if there was one; otherwise those of the transfer. */
export function lastFaults({ field, record, reason, otherFaults, resent }: Reject): Faults {
  const last = resent?.reason ? { reason: resent.reason, otherFaults: resent.otherFaults } : { reason, otherFaults }
  return { field, record, reason: last.reason, ...(last.otherFaults && { otherFaults: last.otherFaults }) }
}

/**
 * Every fault that was found last, as sentences that quote the value. Destinations do so; the mapping names its field instead,
 * which is next to the reason.
 */
export function reasonsOf(reject: Reject, columnOf: (fault: FieldOfRecord) => string | undefined): readonly string[] {
  const { field, record, reason, otherFaults = [] } = lastFaults(reject)
  const sent = reject.resent?.reason ? (reject.edited ?? record) : record
  return [{ field, reason }, ...otherFaults].map((fault) => {
    const column = columnOf({ field: fault.field, record })
    return sentenceOf(fault, column === undefined ? null : (sent[column] ?? null))
  })
}

function sentenceOf({ field, reason }: Pick<Reject, 'field' | 'reason'>, value: string | null): string {
  const rest = field !== null && reason.startsWith(`${field} `) ? reason.slice(field.length + 1) : undefined
  const text =
    rest !== undefined && value && /^(?:is|can|has)\b(?! (?:missing|no value))/.test(rest)
      ? `"${value}" ${rest}`
      : reason
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

/** Finds the column of the source that fills a field of the destination, by the mapping or by its name. */
export function columnFinder({ destConnectionConfig }: Pick<ConnectionDetails, 'destConnectionConfig'>) {
  const { mapping } = destConnectionConfig
  const lines = typeof mapping === 'string' ? (readMapping(mapping) ?? []) : []
  return ({ field, record }: FieldOfRecord): string | undefined => {
    if (field === null) return undefined
    if (Object.hasOwn(record, field)) return field
    const entry = lines.find((line) => line.field === field)?.entry
    if (entry?.kind === 'column' && Object.hasOwn(record, entry.column)) return entry.column
    return Object.keys(record).find((column) => folded(column) === folded(field))
  }
}

const folded = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Groups rows by column and fault, the largest group first. @param columnOf the column of a row that holds the wrong value */
export function groupsOf(
  rejects: readonly Reject[],
  columnOf: (reject: Reject) => string | undefined,
): readonly ReasonGroup[] {
  const byKey = Map.groupBy(rejects, keyOf)
  return [...byKey]
    .map(([key, same]): ReasonGroup => {
      const first = same[0] as Reject
      const column = columnOf(first)
      return {
        key,
        fault: clearestOf(same.map(faultOf)),
        field: first.field,
        column,
        shape: shapeOf(first),
        hasOneShape: new Set(same.map((one) => shapeOf(one)?.has)).size === 1,
        rejects: same,
        count: same.reduce((sum, { count }) => sum + count, 0),
        values: column === undefined ? [] : countValues(same.map(({ record }) => record[column] ?? null)),
      }
    })
    .sort((one, other) => other.count - one.count)
}

function keyOf(reject: Reject): string {
  const shape = shapeOf(reject)
  if (shape) return shape.has < shape.needs ? 'short' : 'long'
  return `${reject.field ?? ''}: ${keyOfFault(faultOf(reject))}`
}

/** Whether the values of the rows are wrong, so that a correction helps, and not what the rows meet at the destination. */
export const isOfValues = ({ column, shape, fault }: Pick<ReasonGroup, 'column' | 'shape' | 'fault'>): boolean =>
  shape !== undefined || (column !== undefined && fault.kind !== 'noReference' && fault.kind !== 'twice')

/** How often each value is there, the most frequent first. */
export function countValues(values: readonly (string | null)[]): readonly (readonly [string | null, number])[] {
  const counts = new Map<string | null, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, one], [, other]) => other - one)
}
