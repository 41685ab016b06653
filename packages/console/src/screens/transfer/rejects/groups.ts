import type { ConnectionDetails, Reject } from '@penstock/wire'
import { readMapping } from '../../new-connection/mapping/mapping.ts'

/** Rejected rows that have the same reason, and the column of the source that caused it. */

export type ReasonGroup = {
  /** Identifies the reason in the address. */
  readonly key: string
  /** The reason in words, without the values of single rows. */
  readonly title: string
  /** The column of the source that holds the wrong value; undefined if it is not known. */
  readonly column: string | undefined
  /** Values that a row has and that it needs, if the number of its values is wrong. */
  readonly shape: Shape | undefined
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

/** Every reason for which a row was rejected. */
export const everyReason = ({
  reason,
  otherFaults = [],
}: Pick<Reject, 'reason' | 'otherFaults'>): readonly string[] => [reason, ...otherFaults.map((fault) => fault.reason)]

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

/** Groups rows by reason, the largest group first. @param columnOf the column of a row that holds the wrong value */
export function groupsOf(
  rejects: readonly Reject[],
  columnOf: (reject: Reject) => string | undefined,
): readonly ReasonGroup[] {
  const byKey = new Map<string, Reject[]>()
  for (const reject of rejects) {
    const key = keyOf(reject)
    const same = byKey.get(key)
    if (same) same.push(reject)
    else byKey.set(key, [reject])
  }
  return [...byKey]
    .map(([key, same]): ReasonGroup => {
      const first = same[0] as Reject
      const column = columnOf(first)
      return {
        key,
        title: titleOf(withoutValues(first)),
        column,
        shape: shapeOf(first),
        rejects: same,
        count: same.reduce((sum, { count }) => sum + count, 0),
        values: column === undefined ? [] : countValues(same.map(({ record }) => record[column] ?? null)),
      }
    })
    .sort((one, other) => other.count - one.count)
}

/** Identifies the reason of a row; the same for all rows of a group. */
export const keyOf = (reject: Reject): string => `${reject.field ?? ''}: ${withoutValues(reject)}`

/** How often each value is there, the most frequent first. */
export function countValues(values: readonly (string | null)[]): readonly (readonly [string | null, number])[] {
  const counts = new Map<string | null, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, one], [, other]) => other - one)
}

/** A reason in which the quoted values of the row are left out. */
function withoutValues({ reason, record }: Reject): string {
  const values = new Set(Object.values(record))
  return reason.replace(/"([^"]*)"/g, (quoted, text: string) =>
    values.has(text) || text.endsWith('…') ? '"…"' : quoted,
  )
}

/** A reason as a heading: `"…" is not a number.` becomes `Not a number`. */
function titleOf(reason: string): string {
  const text = reason.replace(/^"…" (?:is (?=not ))?/, '').replace(/\.$/, '')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
