import { type Check, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { checkDatabase } from '../databases/check-database.ts'
import { valueIn } from './raw-rows.ts'
import { type MysqlSession, openSession } from './session.ts'

/** Reaches the server, signs in, and looks up what the user may do. Nothing is written. */
export const check: Check = checkDatabase({ defaultPort: 3306, openSession }, { signedIn, permitted })

async function signedIn({ run, place }: MysqlSession): Promise<string> {
  const [row] = await run('select version() as version')
  const version = /^[\w.+:~-]{1,80}$/.exec(valueIn(place.host, row, 'version'))?.[0] ?? 'unknown'
  return `${place.user} is signed in to ${place.database} (version ${version}).`
}

/** A user who can only read is a good one for a source; where the settings are a destination's, it is none. */
async function permitted(session: MysqlSession, { settings }: ConnectorContext): Promise<string> {
  const { database } = session.place
  const lacking = await lackingRight(session)
  if (lacking === undefined) return `The user may use ${database}, as far as its tables allow it.`
  if ('writeMode' in settings) {
    throw new ConnectorError('permission_denied', `The user cannot write: grant ${lacking}.`)
  }
  return `The user may use ${database} as a source; for a destination, grant ${lacking}.`
}

/**
 * The privilege that is missing for writing. The table that records written batches must exist, or the user must be
 * able to create it. The privileges of roles are not visible here, so they are assumed to suffice.
 * @param creates whether another table is created
 */
export async function lackingRight({ run, place }: MysqlSession, creates = false): Promise<string | undefined> {
  const [noted] = await run(
    `select 1 from information_schema.tables where table_schema = database() and table_name = 'penstock_batches'`,
  )
  if (noted && !creates) return undefined
  const texts = (await run('show grants')).map((grant) => Object.values(grant).join())
  const hasRole = texts.some((text) => text.startsWith('GRANT ') && !text.includes(' ON '))
  if (hasRole || texts.some((text) => mayCreate(text, place.database))) return undefined
  return `CREATE on ${place.database}${noted ? '' : ', for the table penstock_batches'}`
}

/** Whether a grant, as the server writes it, lets its holder create tables in the database. */
function mayCreate(grant: string, database: string): boolean {
  const found = /^GRANT (.*) ON (.*?)\.\* TO /.exec(grant)
  const [, rights = '', on = ''] = found ?? []
  const pattern = on.replace(/^`|`$/g, '').replaceAll('``', '`').replaceAll('\\', '')
  // An unescaped underscore or percent sign matches others; a name that merely might is left to the first transfer.
  const covers = on === '*' || pattern === database || pattern.includes('%')
  return covers && /\bALL PRIVILEGES\b|\bCREATE\b(?! )/.test(rights)
}
