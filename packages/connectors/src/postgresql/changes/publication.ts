import { ConnectorError } from '@penstock/connector'
import pg from 'pg'
import { columnNotFound } from '../../databases/columns.ts'
import type { Deletes } from '../../databases/row-changes.ts'
import type { PostgresSession } from '../session.ts'
import { nameOf } from '../table.ts'
import type { ChangesPlace } from './slot.ts'
import type { SourceTable } from './table.ts'

const { escapeIdentifier } = pg

/** The part of the table that a publication publishes. */
export type Publication = {
  /** Changes if the publication, or the place of the table in it, was altered or created again. */
  readonly version: string
  /** Whether the table is in it with all others, of the database or of a schema. */
  readonly isOfMany: boolean
  /** The columns of its column list. */
  readonly columns: readonly string[] | undefined
  /** The condition of its row filter. */
  readonly filter: string | undefined
}

/** Since 15, publications have row filters, column lists and schemas. */
const filtersSince = 150_000

/**
 * Asserts that the server and the publication give all changes of the table, or of the rows and columns that it publishes.
 * Throws a `ConnectorError` with the statement that helps.
 */
export async function findPublication(
  session: PostgresSession,
  { schema, table: tableName, publication: name }: ChangesPlace,
  table: SourceTable,
  deletes: Deletes,
): Promise<Publication> {
  const hasFilters = (await assertServer(session)) >= filtersSince
  const quoted = escapeIdentifier(name)
  const own = nameOf({ schema, table: tableName })
  const [found] = await session.rows(
    `with family as (select $2::oid as oid union select relid::oid from pg_partition_ancestors($2::oid))
     select pubviaroot as "viaRoot", pubinsert as insert, pubupdate as update, pubdelete as delete, pubtruncate as truncate,
            exists (select from pg_publication_tables t where t.pubname = p.pubname and t.schemaname = $3 and t.tablename = $4) as here,
            concat_ws(' ', p.oid, p.xmin, (select string_agg(concat_ws(':', oid, xmin), ',' order by oid) from pg_publication_rel
              where prpubid = p.oid and prrelid in (select oid from family))${hasFilters ? ofSchemas : ''}) as version,
            not exists (select from pg_publication_rel where prpubid = p.oid and prrelid in (select oid from family)) as many,
            ${hasFilters ? limits : `null as filter, 'null' as columns`}
       from pg_publication p where pubname = $1`,
    {
      ...({
        viaRoot: 'boolean',
        insert: 'boolean',
        update: 'boolean',
        delete: 'boolean',
        truncate: 'boolean',
      } as const),
      ...({ here: 'boolean', version: 'text', many: 'boolean', filter: 'text?', columns: 'json' } as const),
    },
    [name, table.oid, schema, tableName],
  )
  if (!found) {
    const root = table.isPartitioned ? ' with (publish_via_partition_root = true)' : ''
    throw problem(
      'object_not_found',
      `There is no publication ${name}. Run: create publication ${quoted} for table ${own}${root}`,
    )
  }
  if (table.isPartitioned && !found.viaRoot) {
    throw problem(
      'invalid_setting',
      `The publication ${name} publishes ${table.shown} under the names of its partitions. Run: alter publication ${quoted} set (publish_via_partition_root = true)`,
    )
  }
  if (!found.here) {
    throw table.root !== undefined && found.viaRoot
      ? problem(
          'invalid_setting',
          `${table.shown} is a partition, and the publication ${name} may publish its changes under the name of ${table.root}. Read the table ${table.root}, or create a publication of the partition: create publication penstock_partition for table ${own}`,
        )
      : problem(
          'object_not_found',
          `The publication ${name} does not contain the table ${table.shown}. Run: alter publication ${quoted} add table ${own}`,
        )
  }
  const needed = ['insert', 'update', ...(deletes === 'skip' ? [] : ['delete', 'truncate'])] as const
  const missing = needed.filter((one) => found[one as 'insert'] !== true)
  if (missing.length > 0) {
    throw problem(
      'invalid_setting',
      `The publication ${name} does not publish ${missing.join(' and ')} of ${table.shown}, so the destination would keep old rows. Run: alter publication ${quoted} set (publish = 'insert, update, delete, truncate')`,
    )
  }
  const columns = Array.isArray(found.columns) ? found.columns.map(String) : undefined
  if (columns) assertColumns(table, columns)
  return {
    version: found.version,
    isOfMany: found.many,
    columns,
    filter: found.filter ?? undefined,
  }
}

/** A table that was moved out of its schema, and back, is another dependent of it. */
const ofSchemas = `, (select string_agg(concat_ws(':', n.oid, n.xmin, d.xmin), ',' order by n.oid, d.objid)
               from pg_publication_namespace n join pg_depend d on refclassid = 'pg_namespace'::regclass and refobjid = pnnspid
              where pnpubid = p.oid and classid = 'pg_class'::regclass and objid in (select oid from family))`

const limits = `(select rowfilter from pg_publication_tables t
                where t.pubname = p.pubname and t.schemaname = $3 and t.tablename = $4) as filter,
            coalesce((select to_json(t.attnames)::text from pg_publication_tables t
                where t.pubname = p.pubname and t.schemaname = $3 and t.tablename = $4
                  and exists (select from pg_publication_rel where prpubid = p.oid and prrelid = $2::oid and prattrs is not null)), 'null') as columns`

/** @returns the version of the server as a number */
async function assertServer(session: PostgresSession): Promise<number> {
  const [server] = await session.rows(
    `select pg_is_in_recovery() as standby, current_setting('wal_level') as level, current_setting('server_version_num')::int as version`,
    { standby: 'boolean', level: 'text', version: 'integer' },
  )
  if (server?.standby) throw problem('not_supported', 'This server is a standby. Connect to the primary server.')
  if (server?.level !== 'logical') {
    throw problem(
      'not_supported',
      `The server does not keep what changes need: wal_level is ${server?.level}. Set wal_level = logical, and restart it.`,
    )
  }
  return server.version
}

/** Asserts that the log contains the changes of all rows that a copy of the table would read. */
export function assertLogged({ shown, hidesRows, isInherited, leaves }: SourceTable): void {
  if (hidesRows) {
    throw problem(
      'permission_denied',
      `Row-level security hides rows of ${shown} from this user, but its changes contain all rows. Run: alter role … bypassrls`,
    )
  }
  if (isInherited) {
    throw problem(
      'not_supported',
      `Other tables inherit from ${shown}. Their rows are rows of ${shown}, but their changes are not. Read all rows instead, or make them partitions.`,
    )
  }
  const unlogged = leaves.find(({ kind, persistence }) => kind === 'f' || persistence !== 'p')
  if (!unlogged) return
  const { name, kind, persistence } = unlogged
  const what = kind === 'f' ? 'a foreign table' : persistence === 'u' ? 'an unlogged table' : 'a temporary table'
  const cure = persistence === 'u' ? `Run: alter table ${name} set logged` : 'Read all rows instead.'
  throw problem('not_supported', `${name} is ${what}: the server does not log its changes. ${cure}`)
}

/** Asserts that a changed row can be found again by its key. Throws `invalid_key` with the statement that helps. */
export function assertKeys({ shown, columns, leaves }: SourceTable, keys: readonly string[]): void {
  const names = columns.map(({ name }) => name)
  const unknown = keys.find((key) => !names.includes(key))
  if (unknown !== undefined) throw columnNotFound(unknown, names)
  if (keys.length === 0) {
    throw problem(
      'invalid_key',
      `${shown} has no primary key, so a changed row could not be found again. Give it one, or set key columns and run: alter table ${shown} replica identity full`,
    )
  }
  for (const { name, identity, identityColumns } of leaves) {
    const sent = identity === 'f' ? names : identityColumns
    const unsent = keys.filter((key) => !sent.includes(key))
    if (unsent.length > 0) {
      throw problem(
        'invalid_key',
        `PostgreSQL does not send ${unsent.join(', ')} of a removed row of ${name}. Select the columns of the replica identity as key columns, or run: alter table ${name} replica identity full`,
      )
    }
  }
}

/** Asserts that a column list contains what PostgreSQL finds a changed row by; otherwise it refuses changes of the table. */
function assertColumns({ columns, leaves }: SourceTable, listed: readonly string[]): void {
  for (const { name, identity, identityColumns } of leaves) {
    const needed = identity === 'f' ? columns.map((column) => column.name) : identityColumns
    const omitted = needed.filter((column) => !listed.includes(column))
    if (omitted.length === 0) continue
    throw problem(
      'invalid_key',
      `The column list of the publication does not contain ${omitted.join(', ')}, which the replica identity of ${name} needs. Add the columns to it, or publish the table without a column list.`,
    )
  }
}

const problem = (code: ConstructorParameters<typeof ConnectorError>[0], message: string) =>
  new ConnectorError(code, message)
