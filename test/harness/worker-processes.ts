import assert from 'node:assert/strict'
import { join } from 'node:path'
import { generateMasterKey } from '../../packages/server/src/secrets/seal.ts'
import { type Program, prepareStage, type Start } from './process.ts'
import { type Fixture, startFixture } from './transfers.ts'
import { until } from './until.ts'

/** A transfer fixture whose workers are separate processes, as an operator runs them, so that they can be killed. */
export type ProcessFixture = Fixture & {
  /** Starts `penstock worker`. */
  spawnWorker(env?: Record<string, string>): Program
  /** How far a transfer is, straight from the database. */
  standing(transferId: string): Promise<Standing>
  /** Waits until workers have claimed the transfer more often than `attempt`, or until it has ended. */
  claimed(transferId: string, attempt: number): Promise<Standing>
}

export type Standing = { status: string; attempt: number; read: number; crashes: number }

/** The shortest heartbeat timeout, so that a test does not wait for long after each kill. */
const heartbeatTimeoutSeconds = '2'

const program = join(import.meta.dirname, '../../packages/server/bin/penstock.js')

export async function startProcessFixture(
  t: { after(work: () => Promise<void>): void },
  env: Record<string, string> = {},
  databaseUrl?: string,
  afterClose?: () => Promise<void>,
): Promise<ProcessFixture> {
  const stage = await prepareStage(t)
  const shared = {
    PENSTOCK_MASTER_KEY: generateMasterKey(),
    PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: heartbeatTimeoutSeconds,
    ...env,
  }
  const fixture = await startFixture(shared, databaseUrl, afterClose)
  const standing = async (transferId: string): Promise<Standing> => {
    const { rows } = await fixture.service.database.pool.query(
      `select status, attempt, read::int,
         (select max(crashes) from transfer_parts where transfer_id = t.id) as crashes
       from transfers t where id = $1`,
      [transferId],
    )
    assert(rows[0])
    return rows[0]
  }
  t.after(fixture.close)
  return {
    ...fixture,
    spawnWorker: (more = {}) => {
      const options: Start = {
        env: {
          DATABASE_URL: fixture.service.databaseUrl,
          PENSTOCK_LOCAL_FOLDERS: fixture.folder,
          PENSTOCK_EGRESS: fixture.service.config.egress.networkPolicy,
          ...shared,
          ...more,
        },
      }
      return stage.start(process.execPath, [program, 'worker'], options)
    },
    standing,
    claimed: (transferId, attempt) =>
      until(
        'a worker claims the transfer',
        async () => {
          // A test can restart the database meanwhile.
          const now = await standing(transferId).catch(() => undefined)
          return now && (now.attempt > attempt || !isActive(now)) ? now : undefined
        },
        120_000,
      ),
  }
}

export const isActive = ({ status }: Standing): boolean => status === 'queued' || status === 'running'
