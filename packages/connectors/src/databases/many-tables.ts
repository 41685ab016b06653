import {
  type ConnectorContext,
  ConnectorError,
  type Discover,
  type Discovered,
  type SourceTable,
  type Values,
} from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { inDatabase } from './discovery.ts'
import { type DatabaseSession, inSession, type OpenSession } from './sessions.ts'
import { placeOf } from './settings.ts'
import { quotedName, tableChoice } from './table-patterns.ts'

/** Many tables of a database in one connection (docs/decisions/tables.md). */

/** The most tables of a server that are looked at. */
export const lookedAtMax = 20_000

/** A table or view as the server lists it. */
export type ListedTable = Pick<SourceTable, 'schema' | 'table' | 'keys' | 'rows'> & {
  readonly isView: boolean
  /** Whether it has the cursor column. */
  readonly hasCursor: boolean
}

type Opens<Session extends DatabaseSession> = {
  readonly defaultPort: number
  /** Whether the table is in a schema that a setting names. */
  readonly schemas: boolean
  readonly openSession: OpenSession<Session>
  /** Lists all tables, at most one more than `lookedAtMax`, with whether each has the cursor column. */
  readonly look: (session: Session, cursor: string) => Promise<readonly ListedTable[]>
}

/** The tables of the server, for people who choose some. */
export const discoveryOf = <Session extends DatabaseSession>({
  defaultPort,
  openSession,
  look,
}: Opens<Session>): Discover =>
  inDatabase(defaultPort, openSession, async (session, context) => {
    const found = (await look(session, '')).map(
      ({ schema, table, isView, rows }): Discovered => ({
        value: `${quotedName(schema)}.${quotedName(table)}`,
        kind: isView ? 'view' : 'table',
        ...(rows !== undefined && { rows }),
      }),
    )
    return pageOfAll(found, context)
  })

/** Lists the tables that the settings select. Patterns with an asterisk select no views. */
export const listingOf =
  <Session extends DatabaseSession>({ defaultPort, schemas, openSession, look }: Opens<Session>) =>
  async (context: ConnectorContext): Promise<readonly SourceTable[]> => {
    const { settings } = context
    if (settings.syncMode === 'Changes') {
      throw new ConnectorError(
        'invalid_setting',
        'A connection reads the change log of one table. For many tables, choose All rows, or New and changed rows.',
      )
    }
    const { choose } = tableChoice(settings.tables, settings.tablesExcept)
    const cursor = settings.syncMode === 'Incremental' ? String(settings.markerColumn ?? '').trim() : ''
    const session = await openSession(context, placeOf(context.secrets, defaultPort))
    const listed = await inSession(session, () => look(session, cursor))
    if (listed.length > lookedAtMax) {
      const message = `The database has more than ${lookedAtMax.toLocaleString('en')} tables. Use a connection for each table.`
      throw new ConnectorError('invalid_setting', message)
    }
    return listed.flatMap(({ isView, hasCursor, ...found }): SourceTable[] => {
      const choice = choose(found.schema, found.table)
      if (choice === undefined || (isView && choice !== 'named')) return []
      const settings = { ...settingsOf(found.table, hasCursor), ...(schemas && { schema: found.schema }) }
      return [{ ...found, isNamed: choice === 'named', settings }]
    })
  }

/** Reads only this table: rows after its cursor, or all of them if it has no cursor column. */
const settingsOf = (table: string, hasCursor: boolean): Values => ({
  dataSourceType: 'Table Reference',
  table,
  keyColumns: '',
  syncMode: hasCursor ? 'Incremental' : 'Full',
})
