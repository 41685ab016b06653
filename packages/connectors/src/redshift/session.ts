import type { ConnectorContext } from '@penstock/connector'
import type { Place } from '../databases/settings.ts'
import type { Product } from '../postgresql/errors.ts'
import { openSession, type PostgresSession } from '../postgresql/session.ts'

export const defaultPort = 5439

const product: Product = {
  name: 'Redshift',
  checkAccess: 'that the database user exists in this cluster or workgroup',
  allowPassword: 'Give the user a password with an MD5 digest: ALTER USER name PASSWORD, without sha256 before it.',
}

/** So that values are read and written alike, whatever the defaults of the user are. */
const forms = ["set datestyle to 'ISO, YMD'", "set timezone to 'UTC'", 'set extra_float_digits to 2']

/**
 * Signs in at a cluster or a workgroup of Redshift, which speaks PostgreSQL's protocol. Throws a `ConnectorError`.
 * @param name what the server calls the connection
 */
export async function openRedshift(context: ConnectorContext, place: Place, name?: string): Promise<PostgresSession> {
  const byRole = place.signIn === 'aws-iam' && (await import('./iam-credentials.ts')).credentialsOfRole(context, place)
  const session = await openSession(
    context,
    byRole ? { ...place, ...(await byRole), signIn: 'password' } : place,
    name,
    product,
  )
  try {
    await session.guard(() => runEach(session, forms))
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}

/** Runs statements one by one. Resolves with the number of rows that each changed, as far as Redshift counts them. */
export async function runEach(session: PostgresSession, statements: readonly string[]): Promise<number[]> {
  const counts: number[] = []
  for (const statement of statements) counts.push(...(await session.execute([statement])))
  return counts
}
