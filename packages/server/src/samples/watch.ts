import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { repeat } from '../repeat.ts'
import { emptySampleDatabase, type SampleBounds, type SampleServer, sampleBounds } from './provision.ts'
import * as queries from './queries.ts'

/**
 * Enforces the limits of sample databases. PostgreSQL cannot limit the size of a database, and a role can switch off the limits
 * of its own statements. So the service checks them.
 */

/** How often it looks, in milliseconds. */
const everyMs = 5_000

type Watched = { readonly database: Database; readonly server: SampleServer; readonly log: Logger }

/** Looks again and again until it is closed. */
export function watchSamples(watched: Watched): { close(): Promise<void> } {
  const stop = new AbortController()
  const run = () => holdSamples(watched)
  const ended = repeat({ name: 'watch of sample databases', everyMs, run }, watched.log, stop.signal)
  return {
    close: () => {
      stop.abort()
      return ended
    },
  }
}

/** Looks once: ends sessions that exceed a bound, and empties databases that have grown too large. */
export async function holdSamples(
  { database, server, log }: Watched,
  { bytesMax, statementMs, locksMax }: SampleBounds = sampleBounds,
): Promise<void> {
  for (const { database: name } of await queries.endSessions.all(database, { statementMs, locksMax })) {
    log.warn({ database: name }, 'ended a session of a sample database, which ran for too long or held too many locks')
  }
  if ((await queries.listToEmpty.all(database, { bytesMax })).length === 0) return
  await database.transaction(async (tx) => {
    // No sample is created or removed meanwhile, and another process has perhaps emptied them.
    await queries.lockSamples.first(tx, {})
    for (const { database: name, bytes } of await queries.listToEmpty.all(tx, { bytesMax })) {
      await emptySampleDatabase(server, name)
      log.warn({ database: name, bytes, bytesMax }, 'emptied a sample database, which was missing or too large')
    }
  })
}
