import pg from 'pg'
import { countServers, currentUrl, type DatabaseUrl, passOver, refuseStandby } from './addresses.ts'
import type { Db } from './database.ts'
import { keepAliveOptions } from './liveness.ts'
import { sessionSettings } from './session-settings.ts'
import { connectionTo } from './tls.ts'

/**
 * Opens a separate connection, for work that holds a lock or one transaction for as long as it takes. Its statements have no
 * time limit. Rejects if the server cannot be reached.
 * @param name the name of the session in the server, after `penstock`
 * @param blocks whether others wait for this work. Then the server ends the session if its process does not continue: after a
 * minute in a transaction, and after five outside of one
 */
export async function openSession(url: DatabaseUrl, name: string, { blocks = false } = {}): Promise<pg.Client> {
  for (let others = countServers(url) - 1; ; others--) {
    const address = currentUrl(url)
    try {
      return await openAt(address, refuseStandby(url), name, blocks)
    } catch (error) {
      passOver(url, address)
      if (others <= 0) throw error
    }
  }
}

async function openAt(address: string, check: string, name: string, blocks: boolean): Promise<pg.Client> {
  const session = new pg.Client({
    ...connectionTo(address),
    application_name: `penstock ${name}`,
    connectionTimeoutMillis: 10_000,
    ...keepAliveOptions,
  })
  // The failing statement reports a broken connection. Without a listener, the event would end the process.
  session.on('error', () => {})
  await session.connect()
  try {
    if (check) await session.query(check)
    // The rows can be written to a slow file.
    await session.query(sessionSettings(blocks ? blockingLimits : {}, { reads: blocks }))
    return session
  } catch (error) {
    await session.end()
    throw error
  }
}

const blockingLimits = { idle_in_transaction_session_timeout: 60_000, idle_session_timeout: 300_000 }

/** Runs statements on a session. */
export const onSession = (session: pg.Client): Db => ({ query: (run) => session.query(run) })

/** Does work on one snapshot of the database, in a separate session. The work does not see later writes. */
export async function onSnapshot<T>(url: DatabaseUrl, name: string, work: (db: Db) => Promise<T>): Promise<T> {
  const session = await openSession(url, name)
  try {
    await session.query('begin isolation level repeatable read read only')
    return await work(onSession(session))
  } finally {
    await session.end()
  }
}
