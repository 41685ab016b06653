import type { ConnectorContext, Rejection, Values } from '@penstock/connector'
import {
  columnsNotFound,
  type FatalTableProblem,
  generatedColumns,
  keysNotDelivered,
  tableNotFound,
  throwFirst,
} from '../../databases/table-findings.ts'
import type { JudgedColumn, JudgedRow } from './rows.ts'

/** The tables of a warehouse, as its folder states them: how one is found, created and judged. */

type WriteMode = 'Append' | 'Replace' | 'Upsert'

/** Reads the setting `writeMode`. */
export const writeModeOf = ({ writeMode }: Values): WriteMode =>
  writeMode === 'Replace' || writeMode === 'Upsert' ? writeMode : 'Append'

/** The table that rows go to, as the settings name it. */
export type Target = {
  readonly table: string
  /** The place of the table, as an error names it, such as `the schema crm`. */
  readonly where: string
  readonly mode: WriteMode
  /** The key columns as the settings name them. Empty unless rows are upserted. */
  readonly keys: readonly string[]
  /** Whether a missing table is created. */
  readonly create: boolean
}

/** A column of a table that rows go to. */
export type TargetColumn = JudgedColumn & {
  readonly type: string
  /** The type in messages and lists. By default the same. */
  readonly typeName?: string
  /** Whether only the warehouse can judge its values. */
  readonly isUnjudged?: boolean
  /** Whether rows cannot be found by it, because its values are not compared exactly. */
  readonly isIncomparable?: boolean
  /** Whether the warehouse generates its values. */
  readonly isGenerated?: boolean
}

/** A table as the warehouse describes it. */
export type FoundTable = {
  readonly columns: readonly TargetColumn[]
  /** Rules that only the warehouse can try, such as `CHECK constraints`. */
  readonly untried?: readonly string[]
}

export type Tables<Session, To extends Target, Found extends FoundTable> = {
  /** Reads the settings of the destination. Throws `invalid_setting` if one is missing. */
  readonly targetOf: (settings: Values) => To
  /** Opens a session for some work, and closes it. */
  readonly use: <T>(context: ConnectorContext, work: (session: Session) => Promise<T>) => Promise<T>
  /** `undefined` if there is no such table, or nothing that could contain it. */
  readonly find: (session: Session, target: To) => Promise<Found | undefined>
  /** Creates the table, with columns of text that can be empty, unless another worker has created it. */
  readonly create: (session: Session, target: To, names: readonly string[]) => Promise<unknown>
  /** Throws a `ConnectorError` if a missing table could not be created. Creates nothing. */
  readonly assertCreatable?: (session: Session, target: To) => Promise<unknown>
  /** The name that the warehouse stores for a name in a setting or a mapping. By default the same name. */
  readonly nameOf?: (name: string) => string
  /**
   * Further problems of the key, if rows are upserted and there are no other problems. @param keys the key columns, in the
   * order of the settings
   */
  readonly keyErrors?: (
    session: Session,
    target: To,
    keys: readonly ColumnOf<Found>[],
  ) => Promise<readonly FatalTableProblem[]>
  /** Has the warehouse try rows that were judged, without writing them. Absent if it cannot. */
  readonly tryItems?: (
    session: Session,
    target: To,
    columns: readonly ColumnOf<Found>[],
    items: readonly JudgedRow[],
  ) => Promise<readonly Rejection[]>
  /** Whether an inspection reports columns that require a value and get none. */
  readonly reportsRequired?: true
}

/** The columns of a table. */
export type ColumnOf<Found extends FoundTable> = Found['columns'][number]

/** A table that rows are written to. */
export type OpenedTable<Found extends FoundTable> = {
  readonly found: Found
  /** In the order of the delivered ones. */
  readonly columns: readonly ColumnOf<Found>[]
  /** Indexes of the key columns. Empty unless rows are upserted. */
  readonly keys: readonly number[]
}

/** Finds the table, and creates it if it is missing and the settings allow it. Throws a `ConnectorError` if the columns cannot be written. */
export async function openTable<Session, To extends Target, Found extends FoundTable>(
  tables: Tables<Session, To, Found>,
  session: Session,
  target: To,
  delivered: readonly string[],
): Promise<OpenedTable<Found>> {
  const { find, create, nameOf = same } = tables
  let found = await find(session, target)
  if (!found && target.create) {
    await create(session, target, [...new Set(delivered.map(nameOf))])
    found = await find(session, target)
  }
  const { columns, errors } = await judgeTable(tables, session, target, delivered, found)
  if (!found) errors.push(tableNotFound(target.table, target.where))
  throwFirst(errors)
  return { found: found as Found, columns, keys: keyIndexes(columns) }
}

/** Indexes of the key columns. */
export const keyIndexes = (columns: readonly JudgedColumn[]): number[] =>
  columns.flatMap(({ isKey }, at) => (isKey ? [at] : []))

/** The columns of a table for the delivered ones, and what prevents writing to them. */
export type JudgedTable<Found extends FoundTable> = {
  /** For each delivered column its column in the table. `undefined` if the table lacks it. */
  readonly matches: readonly (ColumnOf<Found> | undefined)[]
  /** All that were found. */
  readonly columns: readonly ColumnOf<Found>[]
  readonly errors: FatalTableProblem[]
}

/** Compares delivered columns with the columns of a table, by their exact names or else in any case. */
export async function judgeTable<Session, To extends Target, Found extends FoundTable>(
  { nameOf = same, keyErrors }: Pick<Tables<Session, To, Found>, 'nameOf' | 'keyErrors'>,
  session: Session,
  target: To,
  delivered: readonly string[],
  found: Found | undefined,
): Promise<JudgedTable<Found>> {
  const { table, where } = target
  if (!found) return { matches: [], columns: [], errors: [tableNotFound(table, where)] }
  const all: readonly ColumnOf<Found>[] = found.columns
  const plain = delivered.map((name) => columnNamed(name, all))
  const named = plain.filter((column) => column !== undefined)
  const errors = columnsNotFound(
    table,
    delivered.filter((_, at) => plain[at] === undefined),
  )
  const twice = named.find((column, at) => named.indexOf(column) !== at)
  if (twice) {
    errors.push({
      code: 'columns_do_not_fit',
      columns: delivered.filter((_, at) => plain[at] === twice),
      describe: (names) =>
        `${names.join(' and ')} are mapped to the same column of the table. Map one of them to another column.`,
    })
  }
  const keyed = target.keys.map((key) => columnNamed(nameOf(key), named))
  errors.push(...keysNotDelivered(target.keys.filter((_, at) => keyed[at] === undefined)))
  errors.push(...generatedColumns(named.filter(({ isGenerated }) => isGenerated).map(({ name }) => name)))
  const keys = new Set(keyed.filter((column) => column !== undefined))
  const unusable = named.filter((column) => keys.has(column) && column.isIncomparable)
  if (unusable.length > 0) {
    errors.push({
      code: 'columns_do_not_fit',
      columns: unusable.map(({ name }) => name),
      describe: (names) => `The key column ${names.join(', ')} has a type that cannot be compared. Choose another key.`,
    })
  }
  if (keyErrors && keys.size > 0 && errors.length === 0) errors.push(...(await keyErrors(session, target, [...keys])))
  // A key without a value would never be found again.
  const matches = plain.map((column) =>
    column && keys.has(column) ? { ...column, needed: true, isKey: true } : column,
  )
  return { matches, columns: matches.filter((column) => column !== undefined), errors }
}

/** A column by its exact name, or else in any case. */
const columnNamed = <Column extends { readonly name: string }>(
  name: string,
  columns: readonly Column[],
): Column | undefined =>
  columns.find((column) => column.name === name) ??
  columns.find((column) => column.name.toLowerCase() === name.toLowerCase())

const same = (name: string): string => name
