import type { SchemaElement } from 'hyparquet'
import { parquetBounds } from './bounds.ts'
import type { ColumnType } from './column-types.ts'
import type { Cell } from './rows.ts'
import { type StoredLeaf, type StoredValue, storedLeaf } from './stored.ts'

/** Columns of files that are written, with lists and structs: their schemas, and JSON text as their values. */

/** How the values of a column are stored. */
export type StoredColumn = StoredLeaf | StoredNested

type StoredNested = Pick<StoredLeaf, 'storedOf' | 'needed'> & {
  readonly nested: 'list' | 'struct'
  /** The items of a list, or the fields of a struct. */
  readonly children: readonly { readonly name: string; readonly column: StoredColumn }[]
}

/** A leaf of a column: the names down to it, and how it is stored. */
export type Leaf = { readonly path: readonly string[]; readonly leaf: StoredLeaf; readonly isNested: boolean }

/** How a column of a type is stored. Nested values that are too deep, or have fields that names do not distinguish, are JSON. */
export const storedColumn = (type: ColumnType | null): StoredColumn =>
  isNestedType(type) && !isWritable(type) ? storedLeaf({ kind: 'json' }) : columnOf(type)

const isNestedType = (type: ColumnType | null): type is Extract<ColumnType, { kind: 'list' | 'struct' }> =>
  type?.kind === 'list' || type?.kind === 'struct'

function columnOf(type: ColumnType | null): StoredColumn {
  if (!isNestedType(type)) return storedLeaf(type)
  const isList = type.kind === 'list'
  const fields = isList ? [{ name: 'element', type: type.items }] : type.fields
  const column = {
    nested: type.kind,
    children: fields.map((field) => ({ name: field.name, column: columnOf(field.type) })),
    needed: isList ? 'a list with items of the declared type' : 'an object with fields of the declared types',
  }
  return {
    ...column,
    storedOf(cell) {
      const value = parseExactly(cell)
      return value === undefined ? undefined : nestedOf({ ...column, storedOf: () => undefined }, value)
    },
  }
}

const isWritable = (type: ColumnType): boolean => countLeaves(type, 0) <= parquetBounds.writtenLeaves

/** Number of leaf values of a type; infinite if it cannot be written. */
function countLeaves(type: ColumnType | null, level: number): number {
  if (!isNestedType(type)) return 1
  if (level >= parquetBounds.writtenLevels) return Number.POSITIVE_INFINITY
  if (type.kind === 'list') return countLeaves(type.items, level + 1)
  const { fields } = type
  // Some readers ignore the letter case of fields.
  const isNamed = new Set(fields.map(({ name }) => name.toLowerCase())).size === fields.length
  if (!isNamed || fields.length === 0 || fields.some(({ name }) => name === '')) return Number.POSITIVE_INFINITY
  return fields.reduce((sum, field) => sum + countLeaves(field.type, level + 1), 0)
}

/** A number of JSON, with all digits that it is written with. */
class ExactNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

/** The types of the language know the reviver without the text of the value. */
const parse = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source: string }) => unknown,
) => unknown

function parseExactly(cell: Exclude<Cell, null>): unknown {
  if (typeof cell !== 'string') return undefined
  try {
    return parse(cell, (_key, value, { source }) => (typeof value === 'number' ? new ExactNumber(source) : value))
  } catch {
    return undefined
  }
}

/** A JSON value in its stored form; `undefined` if the column cannot store it exactly. */
function nestedOf(column: StoredColumn, value: unknown): StoredValue | undefined {
  if (value === null) return null
  if (!('nested' in column)) return leafValue(column, value)
  if (column.nested === 'list') {
    const [item] = column.children
    if (!Array.isArray(value) || !item) return undefined
    const items = value.map((each) => nestedOf(item.column, each))
    return items.includes(undefined) ? undefined : (items as StoredValue[])
  }
  if (typeof value !== 'object' || Array.isArray(value) || value instanceof ExactNumber) return undefined
  const given = new Map(Object.entries(value))
  const entries: [string, StoredValue][] = []
  for (const { name, column: field } of column.children) {
    const stored = nestedOf(field, given.get(name) ?? null)
    if (stored === undefined) return undefined
    given.delete(name)
    entries.push([name, stored])
  }
  return given.size > 0 ? undefined : Object.fromEntries(entries)
}

function leafValue({ storedOf, element }: StoredLeaf, value: unknown): StoredValue | undefined {
  if (value instanceof ExactNumber) return storedOf(value.source)
  if (typeof value === 'string' || typeof value === 'boolean') return storedOf(value)
  // Text and JSON hold every value.
  return element.converted_type === 'UTF8' || element.converted_type === 'JSON' ? jsonTextOf(value) : undefined
}

/** JSON text, with the digits that numbers came with. */
function jsonTextOf(value: unknown): string {
  if (value instanceof ExactNumber) return value.source
  if (Array.isArray(value)) return `[${value.map(jsonTextOf).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, inside]) => `${JSON.stringify(key)}:${jsonTextOf(inside)}`)
    .join(',')}}`
}

/** The elements of a column in the schema of a file: three for a list, which names the items `element`. */
export function elementsOf(name: string, column: StoredColumn, isEnd: boolean): SchemaElement[] {
  if (!('nested' in column)) {
    const { element, convertedAtEnd } = column
    const { converted_type, ...rest } = element
    const named = { ...rest, name, repetition_type: 'OPTIONAL' as const }
    return [converted_type === undefined || (convertedAtEnd && !isEnd) ? named : { ...named, converted_type }]
  }
  const children = column.children.flatMap((child) => elementsOf(child.name, child.column, isEnd))
  if (column.nested === 'struct') {
    return [{ name, repetition_type: 'OPTIONAL', num_children: column.children.length }, ...children]
  }
  return [
    { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    ...children,
  ]
}

/** The leaves of a column, in the order in which row groups have them. */
export function leavesOf(name: string, column: StoredColumn, isNested = false): Leaf[] {
  if (!('nested' in column)) return [{ path: [name], leaf: column, isNested }]
  const below = column.nested === 'list' ? [name, 'list'] : [name]
  return column.children.flatMap((child) =>
    leavesOf(child.name, child.column, true).map((leaf) => ({ ...leaf, path: [...below, ...leaf.path] })),
  )
}
