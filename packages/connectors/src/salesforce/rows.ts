import { type Batch, type Cell, ConnectorError, type Rejection, type Values } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import type { Operation } from './ingest-jobs.ts'
import { namePattern } from './objects.ts'

/** How rows become records, by the settings of the connection. */
export type RowRules = {
  readonly operation: Operation
  /** The column that finds a record. Undefined if records are only inserted. */
  readonly key: string | undefined
  /** Written for empty cells. */
  readonly empty: '' | '#N/A'
}

/** A record to send: its cells, and the rows of the batch that it is made of. */
export type SentRecord = { readonly rows: readonly number[]; readonly cells: readonly string[] }

/** Salesforce sets a field to null for this text. */
const nullText = '#N/A'
/** Maximum number of characters that Salesforce accepts in a record. */
const lengthMax = 400_000
const idPattern = /^[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?$/

/** Reads the settings. Throws `invalid_setting` if the field that identifies records is missing. */
export function rulesOf(settings: Values): RowRules {
  const operation = String(settings.operation ?? 'Upsert').toLowerCase() as Operation
  const empty = settings.emptyCells === 'Clear' ? nullText : ''
  if (operation === 'insert') return { operation, key: undefined, empty }
  if (operation !== 'upsert') return { operation, key: 'Id', empty }
  const key = textIn(settings.externalIdField)?.trim() ?? ''
  if (namePattern.test(key)) return { operation, key, empty }
  const message = 'Set “External ID field” to the API name of a field that identifies records, such as Customer_Key__c.'
  throw new ConnectorError('invalid_setting', message)
}

/** The index of the key column among the columns of a batch, in any letter case. `undefined` if it is missing. */
export function keyIndexOf({ key }: RowRules, columns: readonly string[]): number | undefined {
  if (key === undefined) return undefined
  const index = columns.findIndex((column) => column.toLowerCase() === key.toLowerCase())
  return index < 0 ? undefined : index
}

/** The columns that are sent. A deletion needs only the ID. */
export function sentColumns(rules: RowRules, columns: readonly string[]): readonly string[] {
  const at = keyIndexOf(rules, columns)
  return rules.operation === 'delete' && at !== undefined ? columns.slice(at, at + 1) : columns
}

/** The rows of a batch as records, in the columns of `sentColumns`, and the rows that are rejected before they are sent. */
export function readRows(rules: RowRules, { columns, rows }: Batch) {
  const records: { readonly index: number; readonly cells: readonly string[] }[] = []
  const rejected: Rejection[] = []
  const sent = sentColumns(rules, columns)
  const places = sent.map((column) => columns.indexOf(column))
  const key = keyIndexOf(rules, sent)
  for (const [index, row] of rows.entries()) {
    const cells = places.map((place) => row[place] ?? null)
    const wrong = errorOf(rules, sent, key, cells)
    if (wrong) rejected.push({ index, ...wrong })
    else records.push({ index, cells: cells.map((cell, at) => textOf(cell) || (at === key ? '' : rules.empty)) })
  }
  return { records, rejected }
}

function errorOf(
  { operation }: RowRules,
  columns: readonly string[],
  key: number | undefined,
  cells: readonly Cell[],
): Omit<Rejection, 'index'> | undefined {
  const field = (at: number | undefined) => (at === undefined ? {} : { field: columns[at] ?? '' })
  const texts = cells.map(textOf)
  if (texts.every((text) => text === '')) return { reason: 'The row has no value.', ...field(key) }
  if (key !== undefined) {
    const value = texts[key]?.trim() ?? ''
    if (value === '')
      return { reason: 'The row has no value by which Salesforce could find the record.', ...field(key) }
    if (operation !== 'upsert' && !idPattern.test(value)) {
      return { reason: 'The value must be the ID of a record, with 15 or 18 characters.', ...field(key) }
    }
  }
  const cleared = texts.indexOf(nullText)
  if (cleared >= 0) return { reason: 'Salesforce would read the text #N/A as an empty value.', ...field(cleared) }
  if (texts.reduce((sum, { length }) => sum + length, 0) > lengthMax) {
    return { reason: `The row has more than the ${lengthMax} characters that Salesforce takes in a record.` }
  }
  return undefined
}

const textOf = (cell: Cell): string => (cell === null ? '' : String(cell))

/**
 * Merges rows that have the same key into one record, since Salesforce refuses a repeated key. Of each field, the last value
 * wins, as if the rows had been sent one after the other.
 * @param key the index of the key column
 * @param identityOf the form of a key in which equal ones are the same text
 */
export function mergeRows(
  records: readonly { readonly index: number; readonly cells: readonly string[] }[],
  key: number | undefined,
  identityOf: (key: string) => string,
): SentRecord[] {
  if (key === undefined) return records.map(({ index, cells }) => ({ rows: [index], cells }))
  const merged = new Map<string, SentRecord>()
  for (const { index, cells } of records) {
    const identity = identityOf(cells[key] ?? '')
    const before = merged.get(identity)
    const rows = [...(before?.rows ?? []), index]
    merged.set(identity, { rows, cells: before ? cells.map((cell, at) => cell || (before.cells[at] ?? '')) : cells })
  }
  return [...merged.values()]
}
