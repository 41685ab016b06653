import type { RetryPolicy } from '@penstock/engine'
import type { Catalogue } from '../../connectors/catalogue.ts'
import type { Database } from '../../db/database.ts'
import type { IdentityTokens } from '../../identity-tokens/identity-tokens.ts'
import type { LimitSettings } from '../../organizations/limits.ts'
import type { Runners } from '../../runners/runner-pool.ts'
import type { SecretManagers } from '../../secret-managers/secret-managers.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import type { KeptBytes } from '../../streams/kept-bytes.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { WorkerActivity } from './activity.ts'

/** Dependencies for the supervision of transfers. */
export type SupervisorDeps = {
  readonly database: Database
  readonly keyring: Keyring
  readonly secretManagers: SecretManagers
  /** Missing: no connector gets an identity token. */
  readonly identityTokens?: IdentityTokens
  readonly catalogue: Catalogue
  readonly runners: Runners
  readonly settings: SupervisorSettings
  /** Bounds the outcomes that sub-accounts keep; missing: nothing does. */
  readonly keptBytes?: KeptBytes
  /** Makes spans, where traces are exported. */
  readonly startSpan?: Telemetry['startSpan']
  /** Counts what the worker does, if it is measured. */
  readonly activity?: WorkerActivity
}

export type SupervisorSettings = {
  readonly retry: RetryPolicy
  /** A worker without a heartbeat for this long is dead, in milliseconds. */
  readonly heartbeatTimeoutMs: number
  /** Rejected records that are kept of one transfer; counts are never bounded. */
  readonly rejectsMax: number
  /** The limits of what a transfer and its organization keep and move; missing: there are none. */
  readonly limits?: KeptLimits
  /** A transfer that replaces everything with less than this share of what the last one sent waits for confirmation. */
  readonly replaceShareMin: number
  /** Between two signs that a transfer moves, in milliseconds. */
  readonly progressMs: number
  /** Parts of one transfer that are moved concurrently, over all workers: 1 divides none. And how small a part may be, in bytes. */
  readonly parts: { readonly atOnce: number; readonly bytesMin: number }
  /** From the first claim of a transfer to its end, in milliseconds. */
  readonly runTimeMs: number
}

export type KeptLimits = LimitSettings & {
  /** Bytes of the values of the rejected records of one transfer. */
  readonly rejectBytesMax: number
}

/** How often a worker sends a heartbeat, and looks for workers without one. */
export const heartbeatMs = ({ settings }: Pick<SupervisorDeps, 'settings'>): number => settings.heartbeatTimeoutMs / 4
