import { type Check, type ConnectorContext, checkSteps, Outcome } from '@penstock/connector'
import { reach } from '../databases/reach.ts'
import { placeOf } from '../databases/settings.ts'
import { valueIn } from './raw-rows.ts'
import { openSession, type Session } from './session.ts'

const defaultPort = 3306

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
    return await session.guard(() => work(session, context))
  } finally {
    await session.close()
  }
}

async function signedIn({ run, place }: Session): Promise<string> {
  const [row] = await run('select version() as version')
  const version = /^[\w.+:~-]{1,80}$/.exec(valueIn(place.host, row, 'version'))?.[0] ?? 'unknown'
  return `${place.user} is signed in to ${place.database} (version ${version}).`
}

/** What notes which batches were written must be there, or be creatable; a user who can only read is good for a source. */
async function permitted({ run, place }: Session, { settings }: ConnectorContext): Promise<string> {
  const [table] = await run(
    `select 1 from information_schema.tables where table_schema = database() and table_name = 'penstock_batches'`,
  )
  const grants = await run('show grants')
  const texts = grants.map((grant) => Object.values(grant).join())
  // What a role may do is not told here; the first run tells it.
  const hasRole = texts.some((text) => text.startsWith('GRANT ') && !text.includes(' ON '))
  const noted = table !== undefined || hasRole || texts.some((text) => mayCreate(text, place.database))
  if (noted) return `The user may use ${place.database}, as far as its tables allow it.`
  const lacking = `CREATE on ${place.database}, for the table penstock_batches`
  if ('writeMode' in settings) {
    throw new Outcome('refused', 'permission_denied', `The user cannot write: grant ${lacking}.`)
  }
  return `The user may use ${place.database} as a source; for a destination, grant ${lacking}.`
}

/** Whether a grant, as the server writes it, lets its holder create tables in the database. */
function mayCreate(grant: string, database: string): boolean {
  const found = /^GRANT (.*) ON (.*?)\.\* TO /.exec(grant)
  const [, rights = '', on = ''] = found ?? []
  const pattern = on.replace(/^`|`$/g, '').replaceAll('``', '`').replaceAll('\\', '')
  // An unescaped underscore or percent sign matches others; a name that merely might is left to the first run.
  const covers = on === '*' || pattern === database || pattern.includes('%')
  return covers && /\bALL PRIVILEGES\b|\bCREATE\b(?! )/.test(rights)
}
