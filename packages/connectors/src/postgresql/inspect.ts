import { asConnectorError, type Finding, type InspectionContext } from '@penstock/connector'
import { inSession } from '../databases/sessions.ts'
import { placeOf, type Writing, writingOf } from '../databases/settings.ts'
import { findingsOf, requiredColumns, valuesNotTaken } from '../databases/table-findings.ts'
import { lackingRights } from './check.ts'
import { isRowError } from './errors.ts'
import { insertInto, onConflict } from './load.ts'
import { openSession, type PostgresSession } from './session.ts'
import { judgeTable, type PostgresTable, tableOf } from './table.ts'
import { bytesFormatOf, type PostgresCellWriter, textForms, writerFor } from './writers.ts'

const boundMs = 20_000
const messageLengthMax = 1_000
/** Longer texts are not sent to the server to be tried. */
const triedLengthMax = 64 * 1024

/** As a transfer has it, and so that nothing can be changed. */
const begin = ['begin read only', "set local lock_timeout = '5s'", "set local statement_timeout = '15s'", ...textForms]

/** Looks up the table, its columns, its key and what the user may do with it, and tries values against their types. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const writing = writingOf(context.settings, 'public')
  const session = await openSession(context, placeOf(context.secrets, 5432))
  const judge = async () => {
    await session.execute(begin)
    const findings = await look(session, writing, context)
    await session.execute(['rollback'])
    return findings.map((finding) => ({ ...finding, message: session.redact(finding.message, messageLengthMax) }))
  }
  return inSession(session, judge, boundMs)
}

async function look(session: PostgresSession, writing: Writing, context: InspectionContext): Promise<Finding[]> {
  const { columns, rows, settings } = context
  const { schema, table: name } = writing
  const lacking = await lackingRights(session, schema, false)
  const { found, errors } = await judgeTable(session, writing, columns)
  const creates = found.length === 0 && writing.create
  const findings = errors.flatMap(findingsOf)
  const grants = creates ? await lackingRights(session, schema, true) : lacking
  if (grants.length > 0) findings.push(mayNotWrite(grants.join(' and ')))
  if (found.length === 0) return findings
  const missing = found.filter((column) => column.required && !columns.includes(column.name))
  const required = requiredColumns(
    name,
    missing.map((column) => column.name),
  )
  findings.push(...required.flatMap(findingsOf))
  const delivered = columns.filter((column) => found.some((each) => each.name === column))
  // An invalid key would be refused before permissions are judged.
  const keyed = errors.length === 0 ? writing : { ...writing, keys: [] }
  const table = tableOf(keyed, delivered, found, false)
  findings.push(...(await deniedOn(session, name, table)))
  const samples = table.columns.map((column): Sample => {
    const at = columns.indexOf(column.name)
    return { column, writer: writerFor(column, bytesFormatOf(settings)), cells: rows.map((row) => row[at] ?? null) }
  })
  return [...findings, ...(await invalidValues(session, samples))]
}

const mayNotWrite = (grants: string): Finding => ({
  code: 'permission_denied',
  message: `The user cannot write: grant ${grants}.`,
})

/** Has the server plan the statement that writes, for which it judges permissions; another error has been found before. */
async function deniedOn(session: PostgresSession, name: string, table: PostgresTable): Promise<Finding[]> {
  if (table.columns.length === 0) return []
  const cells = table.columns.map(({ type }) => `null::${type}`).join(', ')
  const error = await attempt(session, () =>
    session.execute([`explain ${insertInto(table)} select ${cells} ${onConflict(table)}`]),
  )
  const connectorError = asConnectorError(error === undefined ? undefined : session.problemOf(error))
  if (connectorError?.code !== 'permission_denied') return []
  const rights = ['insert', ...(table.keys.length > 0 ? ['select', 'update'] : [])]
  const [held = {}] = await session.rows(
    `select ${rights.map((right) => `has_table_privilege(to_regclass($1), '${right}') as "${right}"`).join(', ')}`,
    Object.fromEntries(rights.map((right) => [right, 'boolean' as const])),
    [table.name],
  )
  const lacking = rights.filter((right) => held[right] !== true).map((right) => right.toUpperCase())
  return [mayNotWrite(`${(lacking.length > 0 ? lacking : ['INSERT']).join(', ')} on the table ${name}`)]
}

type Sample = {
  readonly column: PostgresTable['columns'][number]
  readonly writer: PostgresCellWriter
  readonly cells: readonly (string | number | boolean | null)[]
}

/** Columns that do not take each of the values looked at. */
async function invalidValues(session: PostgresSession, samples: readonly Sample[]): Promise<Finding[]> {
  const unwritable = samples.flatMap(({ column, writer, cells }) => {
    const reason = cells.map((cell) => writer.problemOf?.(cell)).find((each) => each !== undefined)
    const length = Number(/^character(?: varying)?\((\d+)\)$/.exec(column.fullType)?.[1] ?? Number.POSITIVE_INFINITY)
    const isLong = cells.some((cell) => typeof cell === 'string' && [...cell.trimEnd()].length > length)
    const said = reason ?? (isLong ? `A text is longer than ${column.fullType} holds.` : undefined)
    return said === undefined ? [] : [valuesNotTaken(column.name, said)]
  })
  const tried = samples.flatMap(({ column, writer, cells }) => {
    const texts = cells.map(writer.write).filter((text) => text !== null && text.length <= triedLengthMax)
    const isTried = column.category !== 'S' && texts.length > 0
    return isTried ? [{ column, texts }] : []
  })
  // All at once first: most often every value is taken.
  if (tried.length === 0 || (await areTaken(session, tried))) return unwritable
  const refused: Finding[] = []
  for (const one of tried) {
    if (unwritable.some(({ column }) => column === one.column.name) || (await areTaken(session, [one]))) continue
    refused.push(valuesNotTaken(one.column.name, `A value is not of the type ${one.column.type} of the column.`))
  }
  return [...unwritable, ...refused]
}

async function areTaken(
  session: PostgresSession,
  tried: readonly { column: PostgresTable['columns'][number]; texts: readonly (string | null)[] }[],
): Promise<boolean> {
  const counts = tried.map(
    ({ column: { type } }, at) => `(select count(value::${type}) from unnest($${at + 1}::text[]) as value)`,
  )
  const error = await attempt(session, () =>
    session.rows(
      `select (${counts.join(' + ')})::int as taken`,
      { taken: 'integer' },
      tried.map(({ texts }) => texts),
    ),
  )
  return !isRowError(error)
}

/** Does some work under a savepoint; resolves with the server's error if there is one. */
async function attempt(session: PostgresSession, work: () => Promise<unknown>): Promise<unknown> {
  await session.execute(['savepoint tried'])
  try {
    await work()
    return undefined
  } catch (error) {
    if (!session.alive || asConnectorError(error)) throw error
    await session.execute(['rollback to savepoint tried'])
    return error
  }
}
