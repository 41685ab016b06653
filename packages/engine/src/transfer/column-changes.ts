import { createHash } from 'node:crypto'
import type { Discovered } from '@penstock/connector'
import { type ColumnChange, limits } from '@penstock/wire'
import type { Shape, ShapeColumn, SideShape } from '../protocol.ts'
import { storable } from '../storable.ts'

/** The shape of a side from what discovery found. Lists `limits.shapeColumnsMax` columns; the digest is of all. */
export const shapeOf = (found: readonly Discovered[]): SideShape =>
  shapeOfColumns(
    found.map(({ value, type, required = false, key = false }) => ({
      name: short(value),
      type: type === undefined ? null : short(type),
      required,
      key,
    })),
  )

/** The shape of a side of which only the names are known. */
export const shapeOfNames = (names: readonly string[]): SideShape =>
  shapeOfColumns(names.map((name) => ({ name: short(name), type: null, required: false, key: false })))

function shapeOfColumns(columns: readonly ShapeColumn[]): SideShape {
  const lines = columns.map((column) => JSON.stringify([column.name, wordsOf(column)])).sort()
  return {
    columns: columns.slice(0, limits.shapeColumnsMax),
    count: columns.length,
    digest: createHash('sha256').update(lines.join('\n')).digest('hex'),
  }
}

const short = (text: string): string => storable(text).slice(0, limits.shapeTextLengthMax).toWellFormed()

/**
 * The columns that changed between two transfers, at most `limits.columnChangesMax`. Sides that are unknown in one of them are not
 * compared, nor types that are. A column that took the place of another one of the same type is a renamed one.
 */
export function changesOf(before: Shape, now: Shape): ColumnChange[] {
  const changes = (['source', 'destination'] as const).flatMap((side) => {
    const [was, is] = [before[side], now[side]]
    return was && is ? changesOfSide(was, is).map((change) => ({ side, ...change })) : []
  })
  return changes.slice(0, limits.columnChangesMax)
}

type SideChange = Omit<ColumnChange, 'side'>

function changesOfSide(was: SideShape, is: SideShape): SideChange[] {
  if (was.digest === is.digest) return []
  const names = {
    was: new Map(was.columns.map((column) => [column.name, column])),
    is: new Set(is.columns.map(({ name }) => name)),
  }
  const retyped = is.columns.flatMap((column): SideChange[] => {
    const old = names.was.get(column.name)
    if (!old || old.type === null || column.type === null || wordsOf(old) === wordsOf(column)) return []
    return [{ change: 'retyped', column: column.name, from: wordsOf(old), to: wordsOf(column) }]
  })
  const added = new Map([...is.columns.entries()].filter(([, { name }]) => !names.was.has(name)))
  const others: SideChange[] = []
  for (const [at, column] of was.columns.entries()) {
    if (names.is.has(column.name)) continue
    const inPlace = added.get(at)
    if (inPlace && inPlace.type === column.type) {
      others.push({ change: 'renamed', column: column.name, from: column.name, to: inPlace.name })
      added.delete(at)
    } else others.push({ change: 'removed', column: column.name, from: wordsOf(column), to: null })
  }
  for (const column of added.values())
    others.push({ change: 'added', column: column.name, from: null, to: wordsOf(column) })
  const found = [...others, ...retyped]
  // Only columns beyond the list changed.
  if (found.length > 0 || Math.max(was.count, is.count) <= limits.shapeColumnsMax) return found
  return [{ change: 'retyped', column: '…', from: `${was.count} columns`, to: `${is.count} columns` }]
}

/** A type as a person reads it: `integer, required, key`. */
function wordsOf({ type, required, key }: ShapeColumn): string | null {
  if (type === null) return null
  return [type, ...(required ? ['required'] : []), ...(key ? ['key'] : [])].join(', ')
}

const namedMax = 5

/** The changes in a sentence with the names of the first columns. */
export function sentenceOf(changes: readonly ColumnChange[]): string {
  const named = changes.slice(0, namedMax).map(({ side, change, column, from, to }) => {
    const how = change === 'renamed' ? `renamed to ${to}` : change === 'retyped' ? `${from} before, ${to} now` : change
    return `${column} of the ${side} (${how})`
  })
  const more = changes.length > namedMax ? `, and ${changes.length - namedMax} more` : ''
  return `Columns changed since the last successful transfer: ${named.join(', ')}${more}. Nothing was moved. Accept the changes, or restore the columns, then start the transfer again.`
}
