import pg from 'pg'
import { currentUrl, type DatabaseUrl } from './addresses.ts'
import { connectionTo } from './tls.ts'
import { explainTls, needsClientCertificate } from './tls-failures.ts'

/** Messages for the operator: why the database cannot be used, and what to do. */

/** The database in the form of an address, without its password. */
export function describeDatabase(url: DatabaseUrl): string {
  const { user, host, port, database } = new pg.Client(connectionTo(currentUrl(url)))
  // A path is the directory of a socket, which has no place between user and database.
  if (host.startsWith('/')) return `postgres://${user}@/${database}?host=${host}`
  return `postgres://${user}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
}

/**
 * Explains why the database refused the connection, or did not allow what a start needs.
 * @param setting the setting with this address
 * @returns one or two sentences: what happened, with the server, role or database by name, and what to do. Undefined if it is
 * not a failure of the database
 */
export function explainFailure(error: unknown, url: DatabaseUrl, setting = 'DATABASE_URL'): string | undefined {
  return explain(error, url)?.replaceAll('DATABASE_URL', setting)
}

function explain(error: unknown, url: DatabaseUrl): string | undefined {
  if (error instanceof AggregateError) return explain(error.errors.at(-1), url)
  if (!(error instanceof Error)) return undefined
  const { user, host, port, database } = new pg.Client(connectionTo(currentUrl(url)))
  const server = `${host}:${port}`
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const message = error.message
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host ${host} of the database was not found (${code}). Check the host in DATABASE_URL, and the name server of this machine.`
    case 'ECONNREFUSED':
      return `Nothing listens on ${server} (ECONNREFUSED). Start PostgreSQL there, or check host and port in DATABASE_URL.`
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return noAnswer(server, code)
    case 'ECONNRESET':
    case 'EPIPE':
      return `${server} ended the connection (${code}). Check that PostgreSQL listens there, and host and port in DATABASE_URL.`
    case '28P01':
      return `The password of the role ${user} is wrong (28P01). Check user and password in DATABASE_URL; characters such as @, : and / are written as %40, %3A and %2F in it.`
    case '28000':
      return explainAuthorization(message, { user, server, database })
    case '3D000':
      return `The database ${database} does not exist on ${server} (3D000). Create it (createdb ${database}), or check the name in DATABASE_URL.`
    case '42501':
      return `The role ${user} lacks rights in the database ${database} (42501). Make it the owner: alter database ${database} owner to ${user}; and of the schema public and its tables.`
    case '58P01':
    case '0A000':
      return `PostgreSQL on ${server} lacks an extension that Penstock needs (${code}). Install its contrib package, which brings pg_trgm and btree_gin.`
    case '53300':
      return `${server} takes no more connections (53300). Raise max_connections there, or lower PENSTOCK_DATABASE_POOL of each process.`
    case '57P03':
    case '57P01':
    case '57P02':
      return `PostgreSQL on ${server} is starting or stopping (${code}). Try again once it takes connections.`
    case '25006':
      return `PostgreSQL on ${server} only reads, as a standby does (25006). Use the address of the primary server in DATABASE_URL.`
    case '25P03':
    case '57P05':
      return `PostgreSQL on ${server} ended a session that waited for this process for too long (${code}): it was stopped, or its machine was. Run it again.`
    case '08P01':
      return `${server} refused the connection (08P01). If it is a pooler, check its log, and that it lets this role and database in; check DATABASE_URL.`
  }
  const tls = explainTls(error, { server, host, user }, currentUrl(url))
  if (tls !== undefined) return tls
  if (/timeout|timed out/i.test(message)) return noAnswer(server, 'timeout')
  if (/Connection terminated|connection ended/i.test(message)) {
    return `${server} ended the connection before it answered. Check that PostgreSQL listens there, and host and port in DATABASE_URL.`
  }
  if (/password must be a string/i.test(message)) {
    return `The role ${user} needs a password, and DATABASE_URL has none. Add it: postgres://${user}:password@${server}/${database}`
  }
  if (error instanceof pg.DatabaseError)
    return `The database ${database} on ${server} refused (${code}). Check DATABASE_URL.`
  return undefined
}

const noAnswer = (server: string, code: string) =>
  `${server} does not answer (${code}). Check host and port in DATABASE_URL, and that firewalls let this machine through.`

function explainAuthorization(
  message: string,
  { user, server, database }: { user: string | undefined; server: string; database: string | undefined },
): string {
  if (/client certificate/.test(message)) return needsClientCertificate(server)
  if (/certificate authentication failed/.test(message)) {
    return `${server} does not let the role ${user} in with this client certificate (28000). Its common name must be the role, or pg_ident.conf must map it.`
  }
  if (/no encryption|SSL off/i.test(message)) {
    return `${server} does not let the role ${user} into ${database} without TLS (28000). Add sslmode=verify-full to DATABASE_URL, or a line to its pg_hba.conf.`
  }
  if (/pg_hba\.conf/.test(message)) {
    return `${server} does not let the role ${user} into ${database} from this machine (28000). Add a line to its pg_hba.conf.`
  }
  return `${server} does not let the role ${user} in (28000). Create the role with the right to log in, or check the user in DATABASE_URL.`
}
