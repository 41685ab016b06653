import type { Database } from '../../db/database.ts'
import type { Logger } from '../../log.ts'
import type { Mailer } from '../../mail.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import type { MasterKey } from '../../secrets/seal.ts'
import type { AttemptSaver } from './saver.ts'

export type SenderDeps = {
  readonly database: Database
  readonly keyring: Keyring
  readonly outgoing: Outgoing
  readonly mailer: Pick<Mailer, 'send'>
  /** The time by which deliveries are due, instead of the database's time. For tests. */
  readonly now?: () => Date
  /** Bounds, for tests. */
  readonly bounds?: Partial<SenderBounds>
}

export type SenderBounds = {
  /** Webhooks that one process sends to concurrently: fast ones, and ones whose last requests failed or were slow. */
  readonly webhooks: number
  readonly slowWebhooks: number
  /** Limits of both, per organization and per sub-account. */
  readonly webhooksOfOrganization: number
  readonly webhooksOfAccount: number
  /** Fast webhooks, and webhooks that became slow and gave up their slot while a request waits for its response. */
  readonly sessions: number
  /** Concurrent requests to one webhook. */
  readonly requests: number
  /** A request that is not answered for so long makes its webhook a slow one. */
  readonly slowMs: number
  /** How long a turn takes at most, if others could wait for it and if not. */
  readonly turnMs: number
  readonly longTurnMs: number
  readonly leaseSeconds: number
  /** How often a process that has nothing to do looks for something. */
  readonly pollMs: number
  readonly timeoutMs: number
}

/** Target of a session. */
export type Target = {
  readonly id: string
  readonly url: string
  readonly secrets: readonly string[]
  readonly key: MasterKey
}

/** Dependencies that the sender of a process passes to its sessions. */
export type SenderContext = {
  readonly deps: SenderDeps
  readonly bounds: SenderBounds
  readonly log: Logger
  readonly saver: AttemptSaver
  /** By which the database knows this process. */
  readonly leaseId: string
  /** The time of the database. */
  now(): Date
}
