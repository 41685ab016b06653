import { asConnectorError, ConnectorError, type Values } from '@penstock/connector'
import { writingOf } from '../databases/settings.ts'
import { inWords } from '../kit/names.ts'
import { inspectionsOf } from '../kit/warehouse/inspect.ts'
import { type Tables, type Target, writeModeOf } from '../kit/warehouse/table.ts'
import { encodeValue } from '../object-stores/place.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { type Databricks, openDatabricks } from './databricks-api.ts'
import { columnsIn, type DatabricksColumn, quoteName } from './target-columns.ts'

export type DatabricksTarget = Target & {
  readonly warehouse: string
  /** Catalog, schema and table. */
  readonly path: readonly [catalog: string, schema: string, table: string]
  /** Quoted. */
  readonly name: string
  /** The folder of uploaded files, from /Volumes. */
  readonly folder: string
}

/** Reads the settings of the destination. Throws `invalid_setting` if one is missing. */
export function targetOf(settings: Values): DatabricksTarget {
  const { keys, create } = writingOf({ ...settings, schema: '-' }, '-')
  const [warehouse, catalog, schema, table, volume] = ['warehouse', 'catalog', 'schema', 'table', 'volume'].map(
    (key) => {
      const value = textIn(settings[key])?.trim().replaceAll('`', '') ?? ''
      if (value !== '' && !/[/\0]|^\.+$/.test(value)) return value
      throw new ConnectorError(
        'invalid_setting',
        `“${inWords(key)}” has no value or contains a slash. Correct it in the settings.`,
      )
    },
  ) as [string, string, string, string, string]
  return {
    warehouse,
    path: [catalog, schema, table],
    name: [catalog, schema, table].map(quoteName).join('.'),
    folder: `/Volumes/${catalog}/${schema}/${volume}/penstock`,
    table,
    where: `the schema ${schema}`,
    mode: writeModeOf(settings),
    keys,
    create,
  }
}

/** A table as the catalog describes it. */
export type DatabricksTable = {
  readonly columns: readonly DatabricksColumn[]
  readonly untried: readonly string[]
}

/** The table. `undefined` if the table or its schema does not exist. */
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
    if (columns.length > 0) return { columns, untried: isChecked ? ['CHECK constraints'] : [] }
    throw new ConnectorError('malformed_response', 'Databricks described a table without columns.')
  } catch (error) {
    const code = asConnectorError(error)?.code
    if (code === 'table_not_found' || code === 'object_not_found') return undefined
    throw error
  }
}

export const databricksTables: Tables<Databricks, DatabricksTarget, DatabricksTable> = {
  targetOf,
  use: (context, work) => work(openDatabricks(context)),
  find: findTable,
  async create(databricks, target, names) {
    const columns = names.map((name) => `${quoteName(name)} string`).join(', ')
    await databricks.run({ ...target, text: `create table if not exists ${target.name} (${columns})` })
  },
  assertCreatable: (databricks, { path: [catalog, schema] }) =>
    databricks.ask({
      path: `/api/2.1/unity-catalog/schemas/${encodeValue(`${catalog}.${schema}`)}`,
      repeatable: false,
    }),
}

export const { inspect, tryRows, discoverColumns } = inspectionsOf(databricksTables)
