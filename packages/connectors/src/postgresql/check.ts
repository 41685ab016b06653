import { type Check, type ConnectorContext, checkSteps, Outcome } from '@penstock/connector'
import { reach } from '../databases/reach.ts'
import { placeOf } from '../databases/settings.ts'
import { openSession, type Session } from './session.ts'

const defaultPort = 5432
/** A person waits for the result of a check. */
const stepMs = 20_000

/** Reaches the server, signs in, and looks up what the user may do. Nothing is written. */
export const check: Check = checkSteps(
  ['reach', (context) => reach(context, placeOf(context.secrets, defaultPort))],
  ['sign in', (context) => within(context, signedIn)],
  ['permission', (context) => within(context, permitted)],
)

async function within(
  context: ConnectorContext,
  work: (session: Session, context: ConnectorContext) => Promise<string>,
): Promise<string> {
  const session = await openSession(context, placeOf(context.secrets, defaultPort))
  try {
    return await session.guard(() => work(session, context), stepMs)
  } finally {
    await session.close()
  }
}

async function signedIn({ rows, place, redact }: Session): Promise<string> {
  const [row] = await rows('show server_version', { server_version: 'text' })
  const version = redact(row?.server_version ?? '', 60)
  return `${place.user} is signed in to ${place.database}, a database of PostgreSQL ${version}.`
}

/** A user who can only read is a good one for a source; where the settings are a destination's, it is none. */
async function permitted({ rows }: Session, { settings }: ConnectorContext): Promise<string> {
  const schema = typeof settings.schema === 'string' && settings.schema !== '' ? settings.schema : 'public'
  const [rights] = await rows(
    `select count(*) > 0 as there,
            coalesce(bool_and(has_schema_privilege(nspname, 'usage')), false) as usable,
            coalesce(bool_and(has_schema_privilege(nspname, 'create')), false) as creatable,
            has_database_privilege(current_database(), 'temporary') as temporary,
            coalesce(bool_or((select has_table_privilege(pg_class.oid, 'select, insert, update')
                                from pg_class where relnamespace = pg_namespace.oid and relname = 'penstock_batches')), false) as noted
       from pg_namespace where nspname = $1`,
    { there: 'boolean', usable: 'boolean', creatable: 'boolean', temporary: 'boolean', noted: 'boolean' },
    [schema],
  )
  if (!rights?.there) throw denied('schema_not_found', `There is no schema ${schema}; check the setting.`)
  if (!rights.usable) throw denied('permission_denied', `The user may not use the schema ${schema}; grant USAGE on it.`)
  const lacking = [
    ...(rights.noted || rights.creatable ? [] : [`CREATE on the schema ${schema}`]),
    ...(rights.temporary ? [] : ['TEMPORARY on the database']),
  ].join(' and ')
  if (lacking === '') return `The user may read and write in the schema ${schema}, as far as its tables allow it.`
  if ('writeMode' in settings) throw denied('permission_denied', `The user cannot write: grant ${lacking}.`)
  return `The user may use the schema ${schema} as a source; for a destination, grant ${lacking}.`
}

const denied = (code: string, message: string): Outcome => new Outcome('refused', code, message)
