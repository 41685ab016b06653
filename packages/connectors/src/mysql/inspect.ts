import { asConnectorError, type Finding, type InspectionContext, type Row } from '@penstock/connector'
import { inSession } from '../databases/sessions.ts'
import { placeOf, type Writing, writingOf } from '../databases/settings.ts'
import { findingsOf, requiredColumns, valuesNotTaken } from '../databases/table-findings.ts'
import { lackingRight } from './check.ts'
import { insertStatement } from './insert.ts'
import { type MysqlSession, openSession } from './session.ts'
import { judgeTable, type MysqlColumn, type MysqlTable, same, tableOf } from './table.ts'
import { writerFor } from './writers.ts'

const boundMs = 20_000

/** Looks up the table, its columns, its key and what the user may do with it, and holds values against their types. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const writing = writingOf(context.settings, '')
  const session = await openSession(context, placeOf(context.secrets, 3306))
  return inSession(session, () => look(session, writing, context), boundMs)
}

async function look(session: MysqlSession, writing: Writing, { columns, rows }: InspectionContext): Promise<Finding[]> {
  const { found, errors } = await judgeTable(session, writing, columns)
  const findings = errors.flatMap(findingsOf)
  const lacking = await lackingRight(session, found.length === 0 && writing.create)
  if (lacking !== undefined) findings.push(mayNotWrite(lacking))
  if (found.length === 0) return findings
  const missing = found.filter(({ required, name }) => required && !columns.some((column) => same(column, name)))
  const required = requiredColumns(
    writing.table,
    missing.map(({ name }) => name),
  )
  findings.push(...required.flatMap(findingsOf))
  const delivered = columns.filter((column) => found.some(({ name }) => same(name, column)))
  const keyed = errors.length === 0 ? writing : { ...writing, keys: [] }
  const table = tableOf(keyed, delivered, found)
  findings.push(...(await deniedOn(session, writing, table)))
  for (const column of table.columns) {
    const at = columns.findIndex((name) => same(name, column.name))
    const reason = doubtOf(column, rows, at)
    if (reason !== undefined) findings.push(valuesNotTaken(columns[at] ?? column.name, reason))
  }
  return findings
}

const mayNotWrite = (grants: string): Finding => ({
  code: 'permission_denied',
  message: `The user cannot write: grant ${grants}.`,
})

/** Has the server plan the statement that writes, for which it judges permissions; another error has been found before. */
async function deniedOn(session: MysqlSession, { table: name }: Writing, table: MysqlTable): Promise<Finding[]> {
  if (table.columns.length === 0) return []
  try {
    await session.run(`explain ${insertStatement(table, `(${table.columns.map(() => 'null').join(', ')})`)}`)
    return []
  } catch (error) {
    const connectorError = asConnectorError(session.problemOf(error))
    if (!session.alive) throw error
    if (connectorError?.code !== 'permission_denied') return []
    return [mayNotWrite(`${table.keys.length > 0 ? 'SELECT, INSERT and UPDATE' : 'INSERT'} on the table ${name}`)]
  }
}

/** Why the column does not accept one of the values looked at; undefined if it may take all. */
function doubtOf(column: MysqlColumn, rows: readonly Row[], at: number): string | undefined {
  const writer = writerFor(column)
  const form = forms.find(({ types }) => types.has(column.type))
  for (const row of rows) {
    const text = writer.text(row[at] ?? null)
    const doubt = writer.doubt(text)
    if (doubt !== undefined) return doubt
    if (text !== null && form && !form.pattern.test(text))
      return `A value is not a ${form.what}, which the column requires.`
  }
  return undefined
}

/** Forms of values that the writers leave to the server. The server certainly refuses other forms. */
const forms = [
  {
    types: new Set(['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'decimal', 'float', 'double']),
    pattern: /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/,
    what: 'number',
  },
]
