import { randomBytes } from 'node:crypto'
import type { DatabaseUrl } from './addresses.ts'
import type { Database } from './database.ts'
import { readIdentity } from './readiness.ts'
import { onSession, openSession } from './session.ts'

/** How often it is looked whether a session stays with its server process. */
const looks = 5

/**
 * Whether statements of one connection reach several server processes, as behind a pooler in transaction or statement
 * mode. Notices, advisory locks and settings of a session then go astray, without an error.
 */
export async function isPooledByTransaction(url: DatabaseUrl): Promise<boolean> {
  const [one, other] = await Promise.all([openSession(url, 'probe'), openSession(url, 'probe')])
  try {
    const token = randomBytes(8).toString('hex')
    const processOf = async () => (await one.query('select pg_backend_pid() as pid')).rows[0]?.pid
    await one.query(`select set_config('penstock.probe', $1, false)`, [token])
    const first = await processOf()
    // While the other session is in a transaction, it occupies a server process, possibly the one that the first session used
    // until now.
    await other.query('begin')
    const { rows } = await other.query(
      `select current_setting('penstock.probe', true) as seen, pg_backend_pid() as pid`,
    )
    if (rows[0]?.seen === token || rows[0]?.pid === first) return true
    if ((await processOf()) !== first) return true
    // The pooler can assign a newly connected process first. When that process is free, it is the next to be assigned.
    for (let look = 0; look < looks; look++) {
      await other.query(look % 2 === 0 ? 'rollback' : 'begin')
      if ((await processOf()) !== first) return true
    }
    const kept = await one.query(`select current_setting('penstock.probe', true) as seen`)
    return kept.rows[0]?.seen !== token
  } catch (error) {
    // A pooler in statement mode does not let a transaction begin.
    if (error instanceof Error && /statement pooling/.test(error.message)) return true
    throw error
  } finally {
    await Promise.all([one.end(), other.end()])
  }
}

/** Whether an address leads to the database of the pool. Copies of a server, such as a standby, are treated as that server. */
export async function isSameDatabase(database: Database, url: DatabaseUrl): Promise<boolean> {
  const session = await openSession(url, 'probe')
  try {
    return (await readIdentity(database)) === (await readIdentity(onSession(session)))
  } finally {
    await session.end()
  }
}
