import { asConnectorError, ConnectorError, type Values } from '@penstock/connector'
import { matchColumns } from '../databases/judged-rows.ts'
import { writingOf } from '../databases/settings.ts'
import { type FatalTableProblem, keysNotDelivered, tableNotFound, throwFirst } from '../databases/table-findings.ts'
import { encodeValue } from '../object-stores/place.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import type { Databricks } from './databricks-api.ts'
import { columnsIn, type DatabricksColumn, quoteName } from './target-columns.ts'

/** Where rows go, as the settings name it. */
export type DatabricksTarget = {
  readonly warehouse: string
  /** Catalog, schema and table. */
  readonly path: readonly [catalog: string, schema: string, table: string]
  /** Quoted. */
  readonly name: string
  /** The folder of uploaded files, from /Volumes. */
  readonly folder: string
  readonly mode: 'Append' | 'Replace' | 'Upsert'
  /** Empty unless rows are upserted. */
  readonly keys: readonly string[]
  readonly create: boolean
}

/** Reads the settings of the destination. Throws `invalid_setting` if one is missing. */
export function targetOf(settings: Values): DatabricksTarget {
  const { keys, create } = writingOf({ ...settings, schema: '-' }, '-')
  const [warehouse, catalog, schema, table, volume] = ['warehouse', 'catalog', 'schema', 'table', 'volume'].map(
    (key) => {
      const value = textIn(settings[key])?.trim().replaceAll('`', '') ?? ''
      if (value !== '' && !/[/\0]|^\.+$/.test(value)) return value
      throw new ConnectorError('invalid_setting', `The setting ${key} has no value, or one with a slash; correct it.`)
    },
  ) as [string, string, string, string, string]
  const mode = settings.writeMode === 'Replace' || settings.writeMode === 'Upsert' ? settings.writeMode : 'Append'
  return {
    warehouse,
    path: [catalog, schema, table],
    name: [catalog, schema, table].map(quoteName).join('.'),
    folder: `/Volumes/${catalog}/${schema}/${volume}/penstock`,
    mode,
    keys,
    create,
  }
}

/** A table as the catalog describes it. */
export type DatabricksTable = {
  readonly columns: readonly DatabricksColumn[]
  /** Whether it has CHECK constraints. */
  readonly isChecked: boolean
}

/** The table; `undefined` if there is none, or no such schema. */
export async function findTable(
  databricks: Databricks,
  { path }: Pick<DatabricksTarget, 'path'>,
): Promise<DatabricksTable | undefined> {
  try {
    const { json } = await databricks.askObject({
      path: `/api/2.1/unity-catalog/tables/${encodeValue(path.join('.'))}`,
      repeatable: false,
    })
    const columns = columnsIn(json.columns)
    const isChecked = Object.keys(objectIn(json.properties)).some((key) => key.startsWith('delta.constraints.'))
    if (columns.length > 0) return { columns, isChecked }
    throw new ConnectorError('malformed_response', 'Databricks described a table without columns.')
  } catch (error) {
    const code = asConnectorError(error)?.code
    if (code === 'table_not_found' || code === 'object_not_found') return undefined
    throw error
  }
}

/** Finds the table, and creates it with columns of text if it is missing and the settings allow it. */
export async function openTable(
  databricks: Databricks,
  target: DatabricksTarget,
  delivered: readonly string[],
): Promise<readonly DatabricksColumn[]> {
  let found = await findTable(databricks, target)
  if (!found && target.create) {
    const columns = [...new Set(delivered)].map((name) => `${quoteName(name)} string`).join(', ')
    await databricks.run({ ...target, text: `create table if not exists ${target.name} (${columns})` })
    found = await findTable(databricks, target)
  }
  const { columns, errors } = judgeTable(target, delivered, found)
  throwFirst(errors)
  return columns
}

/** The table's columns for the delivered ones, and what prevents writing to them. */
export function judgeTable(
  { path: [, schema, table], keys }: DatabricksTarget,
  delivered: readonly string[],
  found: DatabricksTable | undefined,
): { columns: readonly DatabricksColumn[]; errors: FatalTableProblem[] } {
  if (!found) return { columns: [], errors: [tableNotFound(table, `the schema ${schema}`)] }
  const { columns, errors } = matchColumns(table, delivered, found.columns)
  const isNamed = ({ name }: DatabricksColumn, key: string) => name.toLowerCase() === key.toLowerCase()
  errors.push(...keysNotDelivered(keys.filter((key) => !columns.some((column) => isNamed(column, key)))))
  const isKey = (column: DatabricksColumn) => keys.some((key) => isNamed(column, key))
  const unusable = columns.filter(
    (column) => isKey(column) && /^(FLOAT|DOUBLE|VARIANT|ARRAY|MAP|STRUCT)/.test(column.type),
  )
  if (unusable.length > 0) {
    errors.push({
      code: 'columns_do_not_fit',
      columns: unusable.map(({ name }) => name),
      describe: (names) => `The key column ${names.join(', ')} has a type that cannot be compared; choose another key.`,
    })
  }
  // A key without a value would never be found again.
  return {
    columns: columns.map((column) => (isKey(column) ? { ...column, needed: true, isKey: true } : column)),
    errors,
  }
}
