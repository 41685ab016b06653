import * as queries from './claim-queries.ts'
import type { SupervisorDeps } from './supervise.ts'

/** How many transfers run at once. */
export type ClaimLimits = {
  /** Of one organization, in one worker. */
  readonly perOrganizationHere: number
  /** Of one sub-account, in one worker. */
  readonly perAccountHere: number
  /** Of one sub-account, over all workers. */
  readonly perAccount: number
  /** That touch one platform, over all workers; 0: no limit. */
  readonly perPlatform: number
}

/** What counts for the shares. */
type Share = Readonly<Pick<queries.WorkRow, 'organizationId' | 'accountId'>>

/** What one worker has claimed, so that no organization and no sub-account takes all of it. */
export class Claims {
  readonly limits: ClaimLimits
  readonly #held = new Set<Share>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(limits: ClaimLimits) {
    this.limits = limits
  }

  /** Claims with the shares as they are; one claim after the other, so that none passes them. */
  async take<Claimed extends Share>(
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

  release(claimed: Share): void {
    this.#held.delete(claimed)
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

/** Claims the transfer whose turn it is, if there is one. */
export async function claimTransfer(
  { database, catalogue }: SupervisorDeps,
  claims: Claims,
): Promise<queries.WorkRow | undefined> {
  const { perAccount, perPlatform } = claims.limits
  const platformConnectors = JSON.stringify(
    perPlatform > 0 ? catalogue.listed.map(({ id, platformId }) => ({ connector: id, platform: platformId })) : [],
  )
  return claims.take((full) =>
    database.transaction(async (tx) => {
      await queries.holdClaims.run(tx, {})
      return queries.claimTransfer.first(tx, {
        perAccount,
        perPlatform: perPlatform || 1,
        platformConnectors,
        fullOrganizations: full.organizations,
        fullAccounts: full.accounts,
      })
    }),
  )
}
