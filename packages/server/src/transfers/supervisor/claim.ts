import { hostname } from 'node:os'
import type { Database } from '../../db/database.ts'
import { wakeWorkers } from '../queries.ts'
import * as queries from './claim-queries.ts'
import type { SupervisorDeps } from './deps.ts'
import { fenceOf, releasePart } from './queries.ts'
import { thisProgram } from './versions.ts'

/** How many transfers run at once. */
export type ClaimLimits = {
  /** Of one organization, in one worker. */
  readonly perOrganizationHere: number
  /** Of one sub-account, in one worker. */
  readonly perAccountHere: number
  /** Of one organization without a limit of its own, over all workers; 0 or missing: no limit. */
  readonly perOrganization?: number
  /** Of one sub-account, over all workers. */
  readonly perAccount: number
  /** That touch one platform, over all workers; 0: no limit. */
  readonly perPlatform: number
  /** Parts of one transfer, over all workers. */
  readonly perTransfer: number
}

/** How the operator finds the process that runs a transfer. */
const workerName = `${hostname()}:${process.pid}`

/** A claimed part: its owner, for the shares, and the attempt of this worker. */
type Claim = Readonly<Pick<queries.WorkRow, 'organizationId' | 'accountId' | 'id' | 'part' | 'attempt'>>

/** Parts of transfers that one worker has claimed, so that no organization and no sub-account takes all of it. */
export class Claims {
  readonly limits: ClaimLimits
  readonly #held = new Set<Claim>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(limits: ClaimLimits) {
    this.limits = limits
  }

  /** Claims with the shares as they are; one claim after the other, so that none passes them. */
  async take<Claimed extends Claim>(
    claim: (full: ReturnType<Claims['full']>) => Promise<Claimed | undefined>,
  ): Promise<Claimed | undefined> {
    const taken = this.#last.then(async () => {
      const claimed = await claim(this.full())
      if (claimed) this.#held.add(claimed)
      return claimed
    })
    this.#last = taken.catch(() => {})
    return taken
  }

  /** Resolves once no claim is in progress. */
  async settled(): Promise<void> {
    let last: unknown
    while (last !== this.#last) {
      last = this.#last
      await last
    }
  }

  release(claimed: Claim): void {
    this.#held.delete(claimed)
  }

  /** The parts that this worker supervises, with their attempts. Waits for a claim in progress. */
  async supervised(): Promise<{ ids: string[]; parts: number[]; attempts: number[] }> {
    await this.#last
    const held = [...this.#held]
    return {
      ids: held.map(({ id }) => id),
      parts: held.map(({ part }) => part),
      attempts: held.map(({ attempt }) => attempt),
    }
  }

  /** Organizations and sub-accounts that have their full share of this worker. */
  full(): { organizations: string[]; accounts: string[] } {
    const fullOf = (key: 'organizationId' | 'accountId', most: number) => {
      const counts = new Map<string, number>()
      for (const { [key]: id } of this.#held) counts.set(id, (counts.get(id) ?? 0) + 1)
      return [...counts].flatMap(([id, count]) => (count >= most ? [id] : []))
    }
    return {
      organizations: fullOf('organizationId', this.limits.perOrganizationHere),
      accounts: fullOf('accountId', this.limits.perAccountHere),
    }
  }
}

/**
 * Claims the part of a transfer whose turn it is, if there is one.
 * @param stopping if it has aborted once the database answers, the part is given back
 */
export async function claimTransfer(
  { database, catalogue }: SupervisorDeps,
  claims: Claims,
  stopping: AbortSignal,
): Promise<queries.WorkRow | undefined> {
  const { perOrganization = 0, perAccount, perPlatform, perTransfer } = claims.limits
  const program = await thisProgram()
  const platformConnectors = JSON.stringify(
    perPlatform > 0 ? catalogue.listed.map(({ id, platformId }) => ({ connector: id, platform: platformId })) : [],
  )
  return claims.take(async (full) => {
    if (stopping.aborted) return undefined
    const limits = {
      perAccount,
      perPlatform: perPlatform || 1,
      perTransfer,
      platformConnectors,
      fullOrganizations: full.organizations,
      fullAccounts: full.accounts,
      perOrganization,
      worker: workerName,
      ...program,
    }
    const claimed = await claimAlone(database, limits)
    if (!claimed || !stopping.aborted) return claimed
    await giveBack(database, claimed)
    return undefined
  })
}

/** Queues a claimed part again, for another worker. */
export async function giveBack(database: Database, claimed: queries.WorkRow): Promise<void> {
  await database.transaction(async (tx) => {
    const released = await releasePart.run(tx, fenceOf(claimed))
    if (released > 0) await wakeWorkers.run(tx, {})
  })
}

/**
 * Claims while no one else does: among the oldest, or else wherever one may run. The lock, the claim and the commit are one message to
 * the server: a process that stops in between leaves nothing locked.
 */
export async function claimAlone(
  database: Database,
  limits: queries.ClaimParameters,
): Promise<queries.WorkRow | undefined> {
  for (const claim of [queries.claimOldest, queries.claimAnywhere]) {
    let claimed: queries.WorkRow | undefined
    await database.transaction(async (tx) => {
      tx.firstly(queries.holdClaims)
      tx.lastly(async (db) => {
        claimed = await claim.first(db, limits)
      })
    })
    if (claimed) return claimed
  }
  return undefined
}
