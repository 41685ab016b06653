import type { Finding, InspectionContext, TriedRows } from '@penstock/connector'
import { inspectRows, judgeRows } from '../databases/judged-rows.ts'
import { inSession } from '../databases/sessions.ts'
import { placeOf } from '../databases/settings.ts'
import { findingsOf, requiredColumns } from '../databases/table-findings.ts'
import { assertWritable } from './check.ts'
import { copyRoleOf } from './copy.ts'
import { defaultPort, openRedshift } from './session.ts'
import { stagingPlaceOf } from './staging.ts'
import { type FoundRedshiftTable, findTable, judgeTable, targetOf } from './table.ts'

const boundMs = 60_000

async function lookUp(context: InspectionContext): Promise<FoundRedshiftTable | undefined> {
  const target = targetOf(context.settings)
  const session = await openRedshift(context, placeOf(context.secrets, defaultPort))
  return inSession(
    session,
    async () => {
      await assertWritable(session, context)
      return findTable(session, target)
    },
    boundMs,
  )
}

/** Looks up the schema and the table, and holds columns and values against it; changes nothing. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const target = targetOf(context.settings)
  // Both throw if the settings are invalid.
  stagingPlaceOf(context.settings)
  copyRoleOf(context.secrets)
  const found = await lookUp(context)
  if (!found && target.create) return []
  const { columns, errors } = judgeTable(target, context.columns, found)
  const isDelivered = ({ name }: { name: string }) => columns.some((column) => column.name === name)
  const missing = found?.columns.filter((column) => column.needed && !isDelivered(column)) ?? []
  const required = requiredColumns(
    target.table,
    missing.map(({ name }) => name),
  )
  return [...required.flatMap(findingsOf), ...inspectRows(errors, columns, context)]
}

/** Judges rows by the columns of the table, as a delivery does before it stages them. */
export async function tryRows(context: InspectionContext): Promise<TriedRows> {
  const target = targetOf(context.settings)
  const found = await lookUp(context)
  const { columns, errors } = judgeTable(target, context.columns, found)
  if (!found || errors.length > 0) return { rejected: [] }
  const untried = columns
    .filter(({ isUnjudged }) => isUnjudged)
    .map(({ name, type }) => `the ${type} values of ${name}`)
  return { rejected: judgeRows(columns, context).doubtful, ...(untried.length > 0 && { untried }) }
}
