import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { everyEvent, organizationsWithLog } from '../audit/audit.ts'
import { type Expected, type Verified, verifyAudit } from '../audit/verify.ts'
import { type Config, ConfigError } from '../config.ts'
import { onSnapshot } from '../db/session.ts'
import type { Logger } from '../log.ts'
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
  const verified = await withRuntime(config, log, ({ databaseUrl }) =>
    onSnapshot(databaseUrl, 'audit', (db) => verifyAudit(db, organization ?? null, expected)),
  )
  if (organization !== undefined && verified.length === 0) {
    throw new Error(`There is no audit log of ${organization}: penstock org list shows the organizations.`)
  }
  const list = verified.map(({ tampering, ...one }) => ({ ...one, tampering: tampering ?? null }))
  print(list, json, verified.map(describe).join('\n') || 'There is no audit log yet.')
  if (verified.some(({ tampering }) => tampering)) process.exitCode = 1
}

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

function describe({ organizationId, events, purgedNumber, number, hash, tampering }: Verified): string {
  if (tampering) return `${organizationId}  TAMPERED WITH (${tampering.kind}): ${tampering.message}`
  const earlier = purgedNumber > 0 ? `, the first ${purgedNumber} were removed by the retention` : ''
  return `${organizationId}  ${events} events verified${earlier}. Keep elsewhere: ${number}:${hash}`
}

/** Prints every event, oldest first, a line of JSON each, with the text that its hash is over. */
export async function exportAuditCommand(
  config: Config,
  log: Logger,
  { organization }: { organization?: string },
): Promise<void> {
  await withRuntime(config, log, ({ databaseUrl }) =>
    onSnapshot(databaseUrl, 'audit', async (db) => {
      async function* lines(): AsyncGenerator<string> {
        for (const id of await organizationsWithLog(db, organization ?? null)) {
          for await (const events of everyEvent(db, id)) {
            yield events.map((event) => `${JSON.stringify(event)}\n`).join('')
          }
        }
      }
      await pipeline(Readable.from(lines(), { objectMode: false }), process.stdout, { end: false })
    }),
  )
}
