import { randomUUID } from 'node:crypto'
import { type Check, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { signIn } from '../amazon-s3/check.ts'
import { checkDatabase } from '../databases/check-database.ts'
import { readingOf } from '../databases/settings.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import { describe, sourceOf } from './plan.ts'
import { defaultPort, openRedshift } from './session.ts'
import { openStaging } from './staging.ts'
import { findTable, targetOf } from './table.ts'

/** An idle serverless workgroup takes a while to answer. */
const stepMs = 60_000
const database = { defaultPort, openSession: openRedshift, stepMs }

async function signedIn({ rows, place, redact }: PostgresSession): Promise<string> {
  const [row] = await rows('select version() as version', { version: 'text' })
  const version = /Redshift ([\d.]+)/.exec(redact(row?.version ?? '', 300))?.[1] ?? ''
  return `${place.user} is signed in to ${place.database}, a database of Redshift ${version}.`.replace(' .', '.')
}

/** Reaches the server, signs in, and checks that the user can read what a connection names. Reads no rows. */
export const checkSource: Check = checkDatabase(database, {
  signedIn,
  async permitted(session, { settings }) {
    if (settings.table === undefined && settings.sqlQuery === undefined) {
      return 'The privileges of the user are checked when a connection names a table or a query.'
    }
    const columns = await describe(session, sourceOf(readingOf(settings, 'public')))
    return `The user may read what the connection names, which has ${columns.length} columns.`
  },
})

/**
 * Reaches the server and Amazon S3, signs in at both, and looks up the table of a connection. If a connection names a staging
 * bucket, puts a small file into it and removes it. Writes nothing to the database.
 */
export const checkDestination: Check = checkDatabase(database, {
  async signedIn(session, context) {
    const database = await signedIn(session)
    return `${database} ${await signIn(context)}`
  },
  async permitted(session, context) {
    const { settings } = context
    if (settings.table === undefined) return 'Permissions are checked when a connection names a table.'
    await assertWritable(session, context)
    await probe(context)
    return 'The user may use the schema, and files can be put into the staging bucket. Whether Redshift may read them shows when a transfer loads rows.'
  },
})

/** Throws a `ConnectorError` if the schema is missing, or the user is not allowed to use it. */
export async function assertWritable(session: PostgresSession, { settings }: ConnectorContext): Promise<void> {
  const target = targetOf(settings)
  const [schema] = await session.rows(
    `select nspname as name, has_schema_privilege(nspname, 'usage') as usable, has_schema_privilege(nspname, 'create') as creatable
       from pg_namespace where nspname = $1 or nspname = $2`,
    { name: 'text', usable: 'boolean', creatable: 'boolean' },
    [target.schema, target.schema.toLowerCase()],
  )
  if (!schema) {
    throw new ConnectorError('table_not_found', `There is no schema ${target.schema}; check the setting.`)
  }
  const found = schema.usable ? await findTable(session, target) : undefined
  const creates = (!found && target.create) || !(await findTable(session, { ...target, table: 'penstock_batches' }))
  const lacking = [...(schema.usable ? [] : ['USAGE']), ...(schema.creatable || !creates ? [] : ['CREATE'])].join(
    ' and ',
  )
  if (lacking === '') return
  throw new ConnectorError('permission_denied', `The user cannot write: grant ${lacking} on the schema ${schema.name}.`)
}

/** Puts a file into the staging bucket, and removes it. Throws a `ConnectorError`. */
async function probe(context: ConnectorContext): Promise<void> {
  const staging = openStaging({ ...context, transferId: `check-${randomUUID()}` })
  const file = await staging.put('probe', '{}\n')
  await file.remove()
}
