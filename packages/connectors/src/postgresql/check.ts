import { type Check, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { checkDatabase } from '../databases/check-database.ts'
import { openSession, type PostgresSession } from './session.ts'
import { batchesTable } from './table.ts'

/** A person waits for the result of a check. */
const stepMs = 20_000

/** Reaches the server, signs in, and looks up what the user may do. Nothing is written. */
export const check: Check = checkDatabase({ defaultPort: 5432, openSession, stepMs }, { signedIn, permitted })

async function signedIn({ rows, place, redact }: PostgresSession): Promise<string> {
  const [row] = await rows('show server_version', { server_version: 'text' })
  const version = redact(row?.server_version ?? '', 60)
  return `${place.user} is signed in to ${place.database}, a database of PostgreSQL ${version}.`
}

/** A user who can only read is a good one for a source; where the settings are a destination's, it is none. */
async function permitted(session: PostgresSession, { settings }: ConnectorContext): Promise<string> {
  const schema = typeof settings.schema === 'string' && settings.schema !== '' ? settings.schema : 'public'
  const lacking = (await lackingRights(session, schema, false)).join(' and ')
  if (lacking === '') return `The user may read and write in the schema ${schema}, as far as its tables allow it.`
  if ('writeMode' in settings) throw new ConnectorError('permission_denied', `The user cannot write: grant ${lacking}.`)
  return `The user may use the schema ${schema} as a source; for a destination, grant ${lacking}.`
}

/**
 * The privileges that are missing for writing in a schema. Throws a `ConnectorError` if the schema is missing, or if
 * the user cannot use it.
 * @param creates whether a table is created in it
 */
export async function lackingRights({ rows }: PostgresSession, schema: string, creates: boolean): Promise<string[]> {
  const [rights] = await rows(
    `select count(*) > 0 as there,
            coalesce(bool_and(has_schema_privilege(nspname, 'usage')), false) as usable,
            coalesce(bool_and(has_schema_privilege(nspname, 'create')), false) as creatable,
            has_database_privilege(current_database(), 'temporary') as temporary,
            coalesce(bool_or(batches.oid is not null), false) as noted,
            coalesce(bool_or(has_table_privilege(batches.oid, 'select') and has_table_privilege(batches.oid, 'insert')
                             and has_table_privilege(batches.oid, 'update')), false) as notable
       from pg_namespace left join pg_class as batches on relnamespace = pg_namespace.oid and relname = $2
      where nspname = $1`,
    {
      ...({ there: 'boolean', usable: 'boolean', creatable: 'boolean' } as const),
      ...({ temporary: 'boolean', noted: 'boolean', notable: 'boolean' } as const),
    },
    [schema, batchesTable],
  )
  if (!rights?.there) throw new ConnectorError('table_not_found', `There is no schema ${schema}; check the setting.`)
  if (!rights.usable)
    throw new ConnectorError('permission_denied', `The user may not use the schema ${schema}; grant USAGE on it.`)
  const creatable = rights.creatable || (rights.noted && !creates)
  return [
    ...(creatable ? [] : [`CREATE on the schema ${schema}`]),
    ...(rights.notable || !rights.noted ? [] : [`SELECT, INSERT and UPDATE on the table ${schema}.${batchesTable}`]),
    ...(rights.temporary ? [] : ['TEMPORARY on the database']),
  ]
}
