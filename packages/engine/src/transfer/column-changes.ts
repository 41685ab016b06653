import { createHash } from 'node:crypto'
import type { Discovered } from '@penstock/connector'
import { type ColumnChange, limits } from '@penstock/wire'
import type { Shape, ShapeColumn, SideShape } from '../protocol.ts'
import { storable } from '../storable.ts'

/** The shape of a side from the result of a discovery. Lists `limits.shapeColumnsMax` columns; the digest covers all columns. */
export const shapeOf = (found: readonly Discovered[]): SideShape =>
  shapeOfColumns(
    found.map(({ value, type, required = false, key = false }) => ({
      name: short(value),
      type: type === undefined ? null : short(type),
      required,
      key,
    })),
  )

/** The shape of a side if only the names of its columns are known. */
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
 * The columns that changed between two transfers, at most `limits.columnChangesMax`. Sides and types that are unknown in one of
 * the transfers are not compared. If a new column of the same type replaces a removed one, the column is treated as renamed.
 */
export const changesOf = (before: Shape, now: Shape): ColumnChange[] =>
  allChangesOf(before, now).slice(0, limits.columnChangesMax)

function allChangesOf(before: Shape, now: Shape): ColumnChange[] {
  return (['source', 'destination'] as const).flatMap((side) => {
    const [was, is] = [before[side], now[side]]
    return was && is ? changesOfSide(was, is).map((change) => ({ side, ...change })) : []
  })
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
    if (inPlace && (inPlace.type === column.type || inPlace.type === null || column.type === null)) {
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

/**
 * Whether a transfer with `drift: add` continues with all changes: each is a new column on either side, and not part of the key.
 * If a side has more columns than are listed, its new columns are unknown.
 */
export const areAdditions = (before: Shape, now: Shape): boolean =>
  allChangesOf(before, now).every(({ side, change, column }) => {
    const known = before[side]
    if (change !== 'added' || !known || known.count > known.columns.length) return false
    return !now[side]?.columns.some(({ name, key }) => name === column && key)
  })

/** The columns of a source that were not there before. */
export function addedNames(before: SideShape, columns: readonly string[]): readonly string[] {
  const known = new Set(before.columns.map(({ name }) => name))
  return before.count > known.size ? [] : columns.filter((name) => !known.has(short(name)))
}

/** Where new columns of the source were added. */
export type AddedTo = 'mapping' | 'table'

/** Whether a side has a column, in any letter case. */
export const hasColumn = (shape: SideShape | null, column: string): boolean =>
  shape?.columns.some(({ name }) => name.toLowerCase() === column.toLowerCase()) ?? false

/** The type of a column, in the words of the platform; `null` if it is unknown. */
export const typeIn = (shape: SideShape | null, column: string): string | null =>
  shape?.columns.find(({ name }) => name === short(column))?.type ?? null

const namedMax = 5

/** Why columns of the source could not be added, and what to do. @param reason a sentence */
export function refusedSentenceOf(names: readonly string[], reason: string): string {
  const more = names.length > namedMax ? `, and ${names.length - namedMax} more` : ''
  return `Columns were added to the source (${names.slice(0, namedMax).join(', ')}${more}) and could not be added to the destination. ${reason} Nothing was moved. Let the user of the destination alter the table, or add the columns yourself, and start the transfer again. To continue without them, accept the changes.`
}

/** The changes in a sentence with the names of the first columns. */
export function sentenceOf(changes: readonly ColumnChange[]): string {
  const named = changes.slice(0, namedMax).map(({ side, change, column, from, to }) => {
    const how = change === 'renamed' ? `renamed to ${to}` : change === 'retyped' ? `${from} before, ${to} now` : change
    return `${column} of the ${side} (${how})`
  })
  const more = changes.length > namedMax ? `, and ${changes.length - namedMax} more` : ''
  return `Columns changed since the last successful transfer: ${named.join(', ')}${more}. Nothing was moved. Accept the changes, or restore the columns, then start the transfer again.`
}
