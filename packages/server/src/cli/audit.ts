import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { endsOfLogs, everyEvent } from '../audit/audit.ts'
import { createAuditLinker } from '../audit/link.ts'
import { type HeadSeal, openHeadSeal } from '../audit/seal-heads.ts'
import { type Expected, type Verified, verifyAudit } from '../audit/verify.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Db } from '../db/database.ts'
import { onSnapshot } from '../db/session.ts'
import type { Logger } from '../log.ts'
import { openKeyring } from '../secrets/keyring.ts'
import { print } from './print.ts'
import { withRuntime } from './runtime.ts'

/** `penstock audit`: whether the audit log is as it was written, and all of it in a file. */

/**
 * Verifies the log of one organization, or all logs, and prints where each ends. The exit code is 1 if something is wrong.
 */
export async function verifyAuditCommand(
  config: Config,
  log: Logger,
  { organization, expect, json }: { organization?: string; expect?: string; json?: boolean },
): Promise<void> {
  const expected = expect === undefined ? undefined : readExpected(expect, organization)
  const verified = await withLinked(config, log, (db, headSeal) =>
    verifyAudit(db, headSeal, organization ?? null, expected),
  )
  if (organization !== undefined && verified.length === 0) {
    throw new Error(`The audit log of ${organization} does not exist. penstock org list shows all organizations.`)
  }
  const list = verified.map(({ tampering, ...one }) => ({ ...one, tampering: tampering ?? null }))
  print(list, json, verified.map(describe).join('\n') || 'There is no audit log yet.')
  if (verified.some(({ tampering }) => tampering)) process.exitCode = 1
}

/** Links what waits, and does work on one snapshot of the logs after that. */
const withLinked = <T>(
  config: Config,
  log: Logger,
  work: (db: Db, headSeal: HeadSeal | undefined) => Promise<T>,
): Promise<T> =>
  withRuntime(config, log, async ({ database, databaseUrl, masterKey }) => {
    const keyring = await openKeyring(database, masterKey)
    const linker = createAuditLinker(database, keyring, log)
    await linker.settle(null)
    await linker.close()
    return onSnapshot(databaseUrl, 'audit', async (db) => work(db, await openHeadSeal(db, keyring)))
  })

/** @throws ConfigError if it is not a number and a hash, or names no log */
function readExpected(text: string, organization: string | undefined): Expected {
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  const fieldErrors = [
    ...(number && hash ? [] : ['--expect must be a number and a hash as this command prints them: 1204:9f86d0….']),
    ...(organization === undefined ? ['--expect needs --organization: each organization has its own log.'] : []),
  ]
  if (!number || !hash || fieldErrors.length > 0) throw new ConfigError(fieldErrors)
  return { number: Number(number), hash }
}

/** Events wait for milliseconds, or for as long as the transaction before them is open. */
const lateSeconds = 60

function describe(one: Verified): string {
  const { organizationId, events, purgedNumber, number, hash, sealed, waiting, waitingSeconds, tampering } = one
  if (tampering) return `${organizationId}  TAMPERED WITH (${tampering.kind}): ${tampering.message}`
  const earlier = purgedNumber > 0 ? `, the first ${purgedNumber} were removed by the retention` : ''
  const unsealed = sealed || number === 0 ? '' : '; its end is not sealed yet, start a service or a worker to seal it'
  const late =
    waiting > 0 && waitingSeconds > lateSeconds
      ? `; ${waiting} more have waited for ${Math.round(waitingSeconds)} s to be linked`
      : ''
  return `${organizationId}  ${events} events verified${earlier}${unsealed}${late}. Keep elsewhere: ${number}:${hash}`
}

/**
 * Prints every event, oldest first, as one line of JSON with the text that its hash covers. After the events of each log,
 * prints a line with its end and its seal.
 */
export async function exportAuditCommand(
  config: Config,
  log: Logger,
  { organization }: { organization?: string },
): Promise<void> {
  await withLinked(config, log, async (db) => {
    async function* lines(): AsyncGenerator<string> {
      for (const { organizationId, number, hash, seal } of await endsOfLogs(db, organization ?? null)) {
        for await (const events of everyEvent(db, organizationId)) {
          yield events.map((event) => `${JSON.stringify(event)}\n`).join('')
        }
        yield `${JSON.stringify({ organizationId, end: { number, hash, seal } })}\n`
      }
    }
    await pipeline(Readable.from(lines(), { objectMode: false }), process.stdout, { end: false })
  })
}
