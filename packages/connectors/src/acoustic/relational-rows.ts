import {
  type Batch,
  type Cell,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type Rejection,
  type Values,
} from '@penstock/connector'
import { element, elements, escapeXml, textAt, type XmlNode } from '../object-stores/xml.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { type RowBlame, rejectionsOf } from '../platform-api/rows/row-results.ts'
import { isId, openCampaign, type Refused, type Table } from './campaign-api.ts'

/** Rows that Acoustic accepts in one request. */
export const rowsMax = 100
/** How often rows are sent that Acoustic could not store for a temporary reason. */
const attemptsMax = 3

/** Inserts rows into a relational table, or updates the rows that have their key. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const id = tableIdOf(context.settings)
  const campaign = openCampaign(context)
  const refusals = new Refusals('Acoustic')
  let table: Table | undefined
  return {
    async deliver(batch) {
      const { rows, rejected } = readRows(batch)
      if (rows.length === 0) return { bytes: 0, rejected }
      table ??= await campaign.table(id)
      assertColumns(table, batch.columns)
      let bytes = 0
      const tries = new Map<number, number>()
      for (let left: readonly SentRow[] = rows; left.length > 0; ) {
        const sent = requestOf(left, table)
        const content = contentOf(id, sent, table)
        const answer = await refusals.count(() => campaign.ask(content, refusedRows))
        bytes += answer.bytes
        for (const { index } of sent) tries.set(index, (tries.get(index) ?? 0) + 1)
        const { blames, transient } = resultsOf(
          answer.result,
          sent,
          table,
          ({ index }) => (tries.get(index) ?? 0) < attemptsMax,
        )
        rejected.push(
          ...rejectionsOf(
            sent.map(({ index }) => ({ rows: [index] })),
            blames,
          ),
        )
        // Before the others, so that a later row with the same key is stored after it.
        left = [...transient, ...left.slice(sent.length)]
      }
      return { bytes, rejected }
    },
  }
}

/** Whether the table is there and has the columns that are sent, and whether these have its key. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const table = await openCampaign(context).table(tableIdOf(context.settings))
  const { columns } = context
  const code = 'columns_do_not_fit' as const
  return [
    ...unknownIn(table, columns).map((column) => ({
      code,
      message: 'The table has no column of this name in this case; rename or leave out the column.',
      column,
    })),
    ...table.keys
      .filter((key) => !columns.includes(key))
      .map((key) => ({ code, message: `The key of the table has the column “${key}”; map a column to it.` })),
  ]
}

/** The ID of the table. Throws `invalid_setting`. */
export function tableIdOf({ tableId }: Values): string {
  const id = String(tableId ?? '').trim()
  if (isId(id)) return id
  throw new ConnectorError('invalid_setting', 'The table ID must be a number, such as 86767.')
}

/** A row as it is sent: its non-empty cells, by column. */
type SentRow = { readonly index: number; readonly cells: ReadonlyMap<string, Cell> }

/** The rows of a batch, and the rows that are rejected beforehand. */
export function readRows({ columns, rows: all }: Batch): { rows: SentRow[]; rejected: Rejection[] } {
  const rows: SentRow[] = []
  const rejected: Rejection[] = []
  for (const [index, row] of all.entries()) {
    const cells = columns.map((column, at) => [column, row[at] ?? null] as const).filter(([, cell]) => cell !== null)
    const bad = cells.find(([, cell]) => !isXml(String(cell)))
    if (bad) rejected.push({ index, reason: 'The value has characters that XML cannot have.', field: bad[0] })
    else if (cells.length === 0) rejected.push({ index, reason: 'The row has no value.' })
    else rows.push({ index, cells: new Map(cells) })
  }
  return { rows, rejected }
}

/** Whether a text can be in XML 1.0. */
const isXml = (text: string): boolean => text.isWellFormed() && !/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/u.test(text)

const unknownIn = ({ columns }: Table, sent: readonly string[]): string[] =>
  columns.length === 0 ? [] : sent.filter((column) => !columns.some(({ name }) => name === column))

function assertColumns(table: Table, columns: readonly string[]): void {
  const missing = table.keys.find((key) => !columns.includes(key))
  if (missing !== undefined) {
    const message = `The key of the table has the column “${missing}”, which the mapping does not fill.`
    throw new ConnectorError('columns_do_not_fit', message)
  }
  const [unknown] = unknownIn(table, columns)
  if (unknown === undefined) return
  const message = `The table has no column “${unknown}” in this case. Rename or leave out the column.`
  throw new ConnectorError('columns_do_not_fit', message)
}

/**
 * The first rows that fit into one request: at most 100, and no key twice, so that the last row of a key is stored last and
 * blame belongs to one row.
 */
function requestOf(rows: readonly SentRow[], { keys }: Table): readonly SentRow[] {
  if (keys.length === 0) return rows.slice(0, rowsMax)
  const seen = new Set<string>()
  const end = rows.findIndex(({ cells }) => {
    const key = keyOf(keys, cells)
    if (seen.size === rowsMax || seen.has(key)) return true
    seen.add(key)
    return false
  })
  return end < 0 ? rows : rows.slice(0, end)
}

const keyOf = (keys: readonly string[], cells: ReadonlyMap<string, Cell>): string =>
  JSON.stringify(keys.map((key) => String(cells.get(key) ?? '').trim()))

const contentOf = (id: string, rows: readonly SentRow[], { columns }: Table): string => {
  const types = new Map(columns.map(({ name, type }) => [name, type]))
  const cellsOf = ({ cells }: SentRow) =>
    [...cells]
      .map(([name, cell]) => `<COLUMN name="${attribute(name)}">${escapeXml(textOf(cell, types.get(name)))}</COLUMN>`)
      .join('')
  const content = rows.map((row) => `<ROW>${cellsOf(row)}</ROW>`).join('')
  return `<InsertUpdateRelationalTable><TABLE_ID>${id}</TABLE_ID><ROWS>${content}</ROWS></InsertUpdateRelationalTable>`
}

const attribute = (text: string): string => escapeXml(text).replaceAll('"', '&quot;')

/** A value as Acoustic has it: days as month, day and year, and booleans as words. */
function textOf(cell: Cell, type: string | undefined): string {
  if (typeof cell === 'boolean') return cell ? 'Yes' : 'No'
  const text = String(cell)
  const [, year, month, day] = (type === '3' && /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)) || []
  return year === undefined ? text : `${month}/${day}/${year}`
}

/** The results of rows in an answer. @param repeats whether a row is sent again that could not be stored for a temporary reason */
function resultsOf(
  result: XmlNode,
  sent: readonly SentRow[],
  { keys, columns }: Table,
  repeats: (row: SentRow) => boolean,
): { blames: readonly RowBlame[]; transient: readonly SentRow[] } {
  const blames: RowBlame[] = []
  const transient: SentRow[] = []
  const types = new Map(columns.map(({ name, type }) => [name, type]))
  for (const failure of elements(element(result, 'FAILURES'), 'FAILURE')) {
    const named = elements(failure, 'COLUMN').map((one) => [textAt(one, '@name'), textAt(one).trim()] as const)
    const own = keys.length > 0 ? named.filter(([name]) => keys.includes(name)) : named
    const places = sent.flatMap(({ cells }, at) => {
      const isMeant = ([name, value]: readonly [string, string]) =>
        textOf(cells.get(name) ?? '', types.get(name)).trim() === value
      return own.length > 0 && own.every(isMeant) ? [at] : []
    })
    const isTransient = textAt(failure, '@failure_type') === 'transient'
    const why = whyOf(textAt(failure, '@description'), columns, isTransient)
    if (places.length === 0) blames.push({ count: 1, reason: why.reason })
    for (const at of places) {
      const row = sent[at]
      if (isTransient && row && repeats(row)) transient.push(row)
      else blames.push({ at, ...why })
    }
  }
  return { blames, transient }
}

/** Descriptions that quote nothing from a row. Any other description could quote it. */
const known = /^(Invalid (?:Date|Number|Time|Email|Country)(?: Value)?) in column: (.+)$/

/** Why a row was not stored, and the column if the description names one of the table. */
function whyOf(
  description: string,
  columns: Table['columns'],
  isTransient: boolean,
): { reason: string; field?: string } {
  const [, what, column] = known.exec(description.trim().replaceAll(/\s+/g, ' ')) ?? []
  if (what !== undefined && columns.some(({ name }) => name === column)) {
    return { reason: `Acoustic does not accept the value: ${what}.`, ...(column && { field: column }) }
  }
  if (isTransient) return { reason: `Acoustic could not store the row, ${attemptsMax} times, for a temporary reason.` }
  return { reason: 'Acoustic does not accept the row. Check the types of its values, and its key.' }
}

const refusedRows: Refused = (code) =>
  new ConnectorError('invalid_batch', `Acoustic refused the rows and named none (${code}).`)
