import { parquetBounds } from './bounds.ts'
import { noText } from './cells.ts'
import type { LeafReader } from './pages.ts'
import type { Cell, RowLimits } from './rows.ts'
import type { SchemaNode } from './schema.ts'

/**
 * Columns of Parquet with columns inside, as JSON text. Each leaf returns a row's values with two levels: how many of the
 * optional parents are present, and which list continues. Numbers that JSON readers would round are text, as in rows.
 */

/** A cell of a nested column, or its error. */
export type NestedCell = { readonly cell: Cell; readonly error?: string }

export type NestedColumn = {
  /** Returns the cell of the next row; undefined at the end of the column. */
  next(): Promise<NestedCell | undefined>
}

/** Values of a leaf that are read from its page in one call. */
const takenMax = 1024

/** The values of one row from one leaf. */
type Entries = {
  readonly leaf: SchemaNode
  definitions: number[]
  repeats: number[]
  cells: (Cell | typeof noText)[]
  /** The next value, and the next of the non-null ones. */
  at: number
  cellAt: number
  tooMany: boolean
}

/**
 * Reads a nested column.
 * @param node a column that is no plain value in each row
 * @param leaves the readers of the leaves below it, in their order
 */
export function openNested(
  node: SchemaNode,
  nodeLeaves: readonly SchemaNode[],
  leaves: readonly LeafReader[],
  limits: RowLimits,
): NestedColumn {
  const rows = nodeLeaves.map((leaf, index) => rowsOf(leaf, leaves[index] as LeafReader))
  return {
    async next() {
      const entries: Entries[] = []
      for (const row of rows) {
        const taken = await row()
        if (taken) entries.push(taken)
      }
      if (entries.length === 0) return undefined
      if (entries.length < rows.length) throw new Error('columns of a group with other rows')
      if (entries.some(({ tooMany }) => tooMany)) return { cell: null, error: nestedTooLong }
      return assemble(node, entries, limits)
    },
  }
}

/** Creates the function that reads the values of one row from a leaf; it returns undefined after the last row. */
function rowsOf(leaf: SchemaNode, reader: LeafReader): () => Promise<Entries | undefined> {
  let definitions: Uint32Array | undefined
  let repeats: Uint32Array | undefined
  let cells: readonly (Cell | typeof noText)[] = []
  let count = 0
  let at = 0
  let cellAt = 0
  /** Reads the next values of the page, or of the next page. */
  const fill = async (): Promise<boolean> => {
    if (reader.left === 0 && !(await reader.open())) return false
    count = Math.min(takenMax, reader.left)
    const values = reader.take(count)
    definitions = values.definitions
    repeats = values.repeats
    cells = values.cells
    at = 0
    cellAt = 0
    return true
  }
  return async () => {
    if (at === count && !(await fill())) return undefined
    if ((repeats?.[at] ?? 0) !== 0) throw new Error('a row that begins inside a list')
    const row: Entries = { leaf, definitions: [], repeats: [], cells: [], at: 0, cellAt: 0, tooMany: false }
    do {
      const definition = definitions?.[at] ?? leaf.definition
      const repeat = repeats?.[at] ?? 0
      if (repeat > leaf.repeats) throw new Error('a level that there is not')
      // Values beyond the limit are skipped, so that the following rows are found.
      if (row.definitions.length === parquetBounds.nestedValues) row.tooMany = true
      if (!row.tooMany) {
        row.definitions.push(definition)
        row.repeats.push(repeat)
        if (definition === leaf.definition) row.cells.push(cells[cellAt] ?? null)
      }
      if (definition === leaf.definition) cellAt += 1
      at += 1
      if (at === count && !(await fill())) break
    } while ((repeats?.[at] ?? 0) > 0)
    return row
  }
}

/** JSON text that is being built, and its error. */
type Draft = { parts: string[]; length: number; error: string | undefined; readonly limits: RowLimits }

function assemble(node: SchemaNode, entries: readonly Entries[], limits: RowLimits): NestedCell {
  const draft: Draft = { parts: [], length: 0, error: undefined, limits }
  const leaves = { entries, next: 0 }
  const missing = node.repetition === 'OPTIONAL' && definitionOf(entries[0]) < node.definition
  write(draft, node, leaves)
  if (entries.some(({ at, definitions }) => at !== definitions.length)) throw new Error('values that belong to nothing')
  if (draft.error !== undefined) return { cell: null, error: draft.error }
  return { cell: missing ? null : draft.parts.join('') }
}

/** The leaves of a row, and the first leaf below the node that is being written. */
type Leaves = { readonly entries: readonly Entries[]; next: number }

const definitionOf = (entries: Entries | undefined): number => {
  const definition = entries?.definitions[entries.at]
  if (definition === undefined) throw new Error('columns of a group with other rows')
  return definition
}

function add(draft: Draft, text: string): void {
  draft.length += text.length
  const { cellBytes, rowErrors } = draft.limits
  if (draft.length > cellBytes) draft.error ??= rowErrors.cellTooLong
  if (draft.error === undefined) draft.parts.push(text)
}

/** Writes a node for each of its occurrences. Sets `leaves.next` to the leaf after the node. */
function write(draft: Draft, node: SchemaNode, leaves: Leaves): void {
  if (node.repetition === 'REPEATED') {
    writeRepeated(draft, node, leaves, '[', ']', writeBody)
  } else if (node.repetition === 'OPTIONAL' && definitionOf(leaves.entries[leaves.next]) < node.definition) {
    add(draft, 'null')
    passOver(node, leaves)
  } else {
    writeBody(draft, node, leaves)
  }
}

type WriteBody = (draft: Draft, node: SchemaNode, leaves: Leaves) => void

/** Writes a repeated node between brackets, item by item. */
function writeRepeated(
  draft: Draft,
  node: SchemaNode,
  leaves: Leaves,
  open: string,
  close: string,
  writeItem: WriteBody,
): void {
  const first = leaves.next
  add(draft, open)
  if (definitionOf(leaves.entries[first]) < node.definition) {
    passOver(node, leaves)
  } else {
    for (let count = 0; ; count += 1) {
      if (count > 0) add(draft, ',')
      leaves.next = first
      writeItem(draft, node, leaves)
      const entries = leaves.entries[first]
      if (entries?.repeats[entries.at] !== node.repeats) break
    }
  }
  add(draft, close)
}

/** Writes one occurrence of a node that is there. */
function writeBody(draft: Draft, node: SchemaNode, leaves: Leaves): void {
  const [child] = node.children
  if (!child) {
    const entries = leaves.entries[leaves.next] as Entries
    if (definitionOf(entries) !== node.definition) throw new Error('a value that is not there')
    add(draft, jsonOf(draft, entries.cells[entries.cellAt]))
    entries.at += 1
    entries.cellAt += 1
    leaves.next += 1
  } else if (node.kind === 'list') {
    // A list has its items in a separate group, or is repeated itself.
    const [item] = child.children
    writeRepeated(draft, child, leaves, '[', ']', item ? (to, _node, from) => write(to, item, from) : writeBody)
  } else if (node.kind === 'map') {
    const keys = new Set<string>()
    writeRepeated(draft, child, leaves, '{', '}', (to, entry, from) => writeEntry(to, entry, from, keys))
  } else {
    for (const [index, field] of node.children.entries()) {
      add(draft, `${index === 0 ? '{' : ','}${JSON.stringify(field.name)}:`)
      write(draft, field, leaves)
    }
    add(draft, '}')
  }
}

/** Writes a key of a map and its value. */
function writeEntry(draft: Draft, { children }: SchemaNode, leaves: Leaves, keys: Set<string>): void {
  const [key, value] = children as readonly [SchemaNode, SchemaNode]
  const entries = leaves.entries[leaves.next] as Entries
  if (definitionOf(entries) < key.definition) draft.error ??= 'The row has a map with a key that is null.'
  const there = definitionOf(entries) === key.definition
  const cell = there ? entries.cells[entries.cellAt] : null
  const text = String(typeof cell === 'symbol' ? '' : cell)
  if (cell === noText) draft.error ??= nestedNoText
  if (keys.has(text)) draft.error ??= 'The row has a map with the same key twice.'
  keys.add(text)
  add(draft, `${JSON.stringify(text)}:`)
  passOver(key, leaves)
  write(draft, value, leaves)
}

const nestedTooLong = `The row has a nested value of more than ${parquetBounds.nestedValues} values.`
const nestedNoText = 'The row has bytes in a nested value that are not text.'

function jsonOf(draft: Draft, cell: Cell | typeof noText | undefined): string {
  if (cell === noText) {
    draft.error ??= nestedNoText
    return 'null'
  }
  return JSON.stringify(cell ?? null)
}

/** Skips a missing node: one value in each leaf below it. */
function passOver(node: SchemaNode, leaves: Leaves): void {
  if (node.children.length === 0) {
    const entries = leaves.entries[leaves.next] as Entries
    if (definitionOf(entries) === entries.leaf.definition) entries.cellAt += 1
    entries.at += 1
    leaves.next += 1
  }
  for (const child of node.children) passOver(child, leaves)
}
