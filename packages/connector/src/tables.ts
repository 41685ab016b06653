import type { ConnectorContext } from './context.ts'
import type { Fields } from './fields.ts'
import type { Values } from './values.ts'

/** How a source moves many tables in one connection (docs/decisions/tables.md). */
export type ManyTables = {
  /** Whether these settings ask for many tables. */
  readonly isAsked: (settings: Values) => boolean
  /**
   * Lists the tables that the settings select, in a fixed order. Tables that cannot be read are included, since their transfer
   * reports the reason. Throws a `ConnectorError` if the settings are invalid.
   */
  readonly list: (context: ConnectorContext) => Promise<readonly SourceTable[]>
}

export type SourceTable = {
  /** Its schema; the database of a source without schemas. */
  readonly schema: string
  readonly table: string
  /** Its primary key; empty if it has none. */
  readonly keys: readonly string[]
  /** Approximate number of rows, if it is known. */
  readonly rows?: number
  /** Whether the settings name it, and not only a pattern. */
  readonly isNamed: boolean
  /** The settings of the source with which a transfer reads only this table. */
  readonly settings: Values
}

/** The name of a table, for people and for its state. */
export const nameOfTable = ({ schema, table }: Pick<SourceTable, 'schema' | 'table'>): string => `${schema}.${table}`

/** Settings of a destination that can be templates of names: of a table for each table of the source, and of its key. */
const templates = ['schema', 'dataset', 'table', 'keyColumns'] as const

/** The settings of a destination that name its table and are templates; `undefined` if it does not take many tables. */
export const templatesOf = ({ fields = {}, records }: { readonly fields?: Fields; readonly records?: object }) =>
  'table' in fields && !records ? templates.filter((key) => key in fields) : undefined

/** Replaces `{schema}`, `{table}` and `{key}` in the template of a setting. */
export const fillTemplate = (
  template: string,
  { schema, table, keys }: Pick<SourceTable, 'schema' | 'table' | 'keys'>,
) =>
  template.replace(/\{(schema|table|key)\}/g, (_, name) =>
    name === 'schema' ? schema : name === 'table' ? table : keys.join(', '),
  )
