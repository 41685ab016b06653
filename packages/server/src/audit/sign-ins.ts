import type { AuditActor, AuditActorKind } from '@penstock/wire'
import type { Database, Db, Transaction } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { record, recordNow } from './record.ts'
import { createRepeats } from './repeats.ts'

/** Sign-ins in the audit log. */

export { queueSignInOfClient } from './queries.ts'

/** Records a sign-in, with the transaction that stores its token or session. */
export function recordSignIn(
  tx: Transaction,
  signIn: {
    readonly organizationId: string
    readonly actor: AuditActor
    /** The operation that was called. */
    readonly action: string
    readonly address: string
    readonly requestId: string
    /** How, if there is more than one way. Never a secret. */
    readonly details?: object
  },
): void {
  record(tx, { ...signIn, targetId: signIn.actor.id })
}

export type FailedSignIn = {
  readonly kind: AuditActorKind
  /** The name in the attempt, as the request contained it, whether or not it exists. */
  readonly name: string
  readonly action: string
  readonly address: string
  readonly requestId: string
}

/**
 * Finds clients or people by name, in one statement for all names.
 * @returns each match with the name as it was given, and its owner. A name has several matches if they belong to several
 * organizations.
 */
export type FindNamed = (
  db: Db,
  names: readonly string[],
) => Promise<readonly { given: string; organizationId: string; id: string; name: string | null }[]>

/**
 * Failed sign-ins of existing clients and people. The request only queues them, whether the name exists or not, and
 * never waits, so that its duration does not reveal whether there is a row. Failures of one client or person within a
 * minute become an event for each address, and one for all addresses beyond the first ones, so that guesses do not fill
 * the log.
 */
export type FailedSignIns = {
  add(failed: FailedSignIn): void
  /** Writes what waits. */
  flush(): Promise<void>
  close(): Promise<void>
}

const windowMs = 60_000
const addressesMax = 20

/** @param find finds existing clients or people, for each kind of credential */
export function createFailedSignIns(
  database: Database,
  find: Partial<Readonly<Record<AuditActorKind, FindNamed>>>,
  log: Pick<Logger, 'warn'>,
): FailedSignIns {
  type Waiting = Omit<FailedSignIn, 'address'> & { address: string | null; times: number }
  const addresses = new Map<string, Set<string>>()
  const repeats = createRepeats<Waiting>(
    windowMs,
    async (failed) => {
      addresses.clear()
      for (const [kind, of] of Map.groupBy(failed, (one) => one.kind)) {
        const names = [...new Set(of.map(({ name }) => name))]
        const known = Map.groupBy((await find[kind]?.(database, names)) ?? [], ({ given }) => given)
        const entries = of.flatMap(({ name: given, action, address, requestId, times }) =>
          (known.get(given) ?? []).map(({ organizationId, id, name }) => ({
            organizationId,
            actor: { kind, id, name },
            action,
            outcome: 'failed' as const,
            targetId: id,
            address,
            requestId,
            details: { times },
          })),
        )
        await recordNow(database, entries)
      }
    },
    log,
  )
  return {
    add: (failed) => {
      const whom = `${failed.kind} ${failed.name}`
      const known = addresses.get(whom) ?? new Set()
      if (known.size < addressesMax) known.add(failed.address)
      if (addresses.size < 10_000) addresses.set(whom, known)
      const address = known.has(failed.address) ? failed.address : null
      repeats.add(`${whom}\n${address}`, { ...failed, address, times: 1 })
    },
    flush: repeats.flush,
    close: repeats.close,
  }
}
