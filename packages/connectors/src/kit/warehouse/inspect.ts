import type { Discover, Finding, InspectionContext, TriedRows } from '@penstock/connector'
import { inOrder } from '../../databases/rejections.ts'
import {
  findingsOf,
  requiredColumns,
  tableNotFound,
  throwFirst,
  valuesNotTaken,
} from '../../databases/table-findings.ts'
import { pageOfAll, windowOf } from '../../discovery/pages.ts'
import { mirrorErrors } from './key-names.ts'
import { judgeRows, readCell } from './rows.ts'
import { type FoundTable, judgeTable, type Tables, type Target } from './table.ts'

/** Answers about a table before a transfer, by the rules of a delivery. */
type Inspections = {
  /** Looks up the table and compares columns and values with it. Creates nothing. */
  readonly inspect: (context: InspectionContext) => Promise<readonly Finding[]>
  /** Judges rows by the columns of the table, as a delivery does before it sends them. */
  readonly tryRows: (context: InspectionContext) => Promise<TriedRows>
  /** Columns of the table that rows go to. */
  readonly discoverColumns: Discover
}

/** @param before what else an inspection examines in the session. Throws a `ConnectorError` */
export function inspectionsOf<Session, To extends Target, Found extends FoundTable>(
  tables: Tables<Session, To, Found>,
  before: (session: Session, context: InspectionContext) => Promise<unknown> = async () => {},
): Inspections {
  const { targetOf, use, find, assertCreatable, tryItems, reportsRequired } = tables
  const lookUp = (context: InspectionContext, target: To) =>
    use(context, async (session) => {
      await before(session, context)
      const found = await find(session, target)
      return { found, ...(await judgeTable(tables, session, target, context.columns, found)) }
    })
  return {
    async inspect(context) {
      const target = targetOf(context.settings)
      const { found, matches, columns, errors } = await lookUp(context, target)
      if (!found && target.create) {
        if (assertCreatable) await use(context, (session) => assertCreatable(session, target))
        return []
      }
      const isDelivered = ({ name }: { readonly name: string }) => columns.some((column) => column.name === name)
      const missing =
        (reportsRequired && found?.columns.filter((column) => column.needed && !isDelivered(column))) || []
      const findings = requiredColumns(
        target.table,
        missing.map(({ name }) => name),
      ).flatMap(findingsOf)
      findings.push(...[...errors, ...mirrorErrors(context.settings, columns)].flatMap(findingsOf))
      for (const [at, column] of matches.entries()) {
        const read = column ? context.rows.map((row) => readCell(column, row[at] ?? null)) : []
        const reason = read.flatMap((value) => ('reason' in value ? [value.reason] : [])).at(0)
        if (reason !== undefined) findings.push(valuesNotTaken(context.columns[at] ?? '', reason))
      }
      return findings
    },

    async tryRows(context) {
      const target = targetOf(context.settings)
      const { found, columns, errors } = await lookUp(context, target)
      if (!found || errors.length > 0) return { rejected: [] }
      const { items, doubtful } = judgeRows(columns, context)
      const refused = tryItems ? await use(context, (session) => tryItems(session, target, columns, items)) : []
      const unjudged = columns
        .filter(({ isUnjudged }) => isUnjudged)
        .map(({ name, type, typeName = type }) => `the ${typeName.replace(/[<(].*$/s, '')} values of ${name}`)
      const untried = [...(found.untried ?? []), ...unjudged]
      return { rejected: inOrder([...doubtful, ...refused]), ...(untried.length > 0 && { untried }) }
    },

    async discoverColumns(context) {
      // An invalid cursor is refused before the warehouse is asked.
      windowOf(context)
      const target = targetOf({ ...context.settings, writeMode: 'Append', createTable: false })
      const found = await use(context, (session) => find(session, target))
      if (!found) throwFirst([tableNotFound(target.table, target.where)])
      return pageOfAll(
        (found?.columns ?? []).map(({ name, type, typeName = type, needed }) => ({
          value: name,
          kind: 'column',
          type: typeName.slice(0, 100),
          required: needed,
        })),
        context,
      )
    },
  }
}
