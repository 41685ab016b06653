import type { Client } from '@penstock/client'
import { applyAccounts, deleteAccounts, enableAccounts } from './apply-accounts.ts'
import { applyAlertRules } from './apply-alert-rules.ts'
import { activate, createAndUpdate, deleteConnections, disable, setSchedules } from './apply-connections.ts'
import { addConnectors, configureConnectors, removeConnectors } from './apply-connectors.ts'
import { applyWebhooks } from './apply-webhooks.ts'
import { withBound } from './calls.ts'
import { ChangedMeanwhile, sayRefusal } from './failures.ts'
import type { Change, Plan } from './plan.ts'
import { ConfigurationError, type Problem } from './problems.ts'
import type { Resolver } from './references.ts'

/** Makes a service what a plan says. */

export type Applied = {
  readonly done: readonly Change[]
  readonly failed: readonly { readonly change: Change; readonly problem: Problem; readonly changedMeanwhile: boolean }[]
}

export type ApplyOptions = {
  readonly client: Client
  readonly resolver: Resolver
  /** Called when a change is done, or has failed. */
  readonly onDone?: (change: Change, problem?: Problem) => void
  /** Called with the signing secret of each webhook that is created, which cannot be read later. */
  readonly onSecret?: ((made: WebhookSecret) => Promise<void>) | undefined
}

export type WebhookSecret = {
  /** The name of the sub-account; null: the webhook is of the organization. */
  readonly account: string | null
  readonly url: string
  readonly id: string
  readonly secret: string
}

/** What the steps share: who has failed, and where things are by now. */
export type Applying = {
  readonly client: Client
  readonly resolver: Resolver
  readonly onSecret: ApplyOptions['onSecret']
  /** The identifiers of sub-accounts, by their names in the files. */
  readonly accountIds: Map<string, string>
  /** The identifier and the version of connections, by their changes. */
  readonly connections: Map<Change, { id: string; etag: string }>
  /** Runs a step of some changes, those alone that have not failed and whose sub-account is there. */
  each<C extends Change>(changes: readonly C[], step: (change: C) => Promise<void>): Promise<void>
  fail(change: Change, error: unknown): void
  hasFailed(change: Change): boolean
  /** Whether the sub-account of a change, or one of these connectors in it, has failed. */
  lacks(change: Change, slugs?: readonly string[]): boolean
}

/**
 * Applies a plan, in the order of what depends on what: nothing that a change needs comes after it, connections that are to stop
 * do so first, and those that are to carry data begin last. A change that fails does not stop the others, but those that need
 * it. Each step can be repeated, so that another plan continues where this one was interrupted.
 * @throws ConfigurationError where a secret cannot be resolved; nothing was changed then
 */
export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<Applied> {
  if (plan.missing.length > 0) throw new ConfigurationError(plan.missing)
  const { client, resolver, onDone, onSecret } = options
  const failures = new Map<Change, Applied['failed'][number]>()
  const applying: Applying = {
    ...{ client, resolver, onSecret, accountIds: new Map(plan.accountIds), connections: new Map() },
    each: async (changes, step) => {
      await withBound(changes, async (change) => {
        if (failures.has(change)) return
        if (applying.lacks(change)) return applying.fail(change, 'Its sub-account could not be changed.')
        try {
          await step(change)
        } catch (error) {
          applying.fail(change, error)
        }
      })
    },
    fail: (change, error) => {
      if (failures.has(change)) return
      const problem = { message: sayRefusal(error), at: change.at }
      failures.set(change, { change, problem, changedMeanwhile: error instanceof ChangedMeanwhile })
      onDone?.(change, problem)
    },
    hasFailed: (change) => failures.has(change),
    lacks: (change, slugs = []) =>
      [...failures.keys()].some(
        (failed) =>
          failed !== change &&
          failed.account === change.account &&
          (failed.kind === 'account' || (failed.kind === 'connector' && slugs.includes(failed.slug))),
      ),
  }
  const { changes } = plan
  const ofAccounts = changes.filter((change) => change.kind === 'account')
  const ofConnectors = changes.filter((change) => change.kind === 'connector')
  const ofConnections = changes.filter((change) => change.kind === 'connection')
  await applyAccounts(applying, ofAccounts)
  // Before data moves, so that no event is missed.
  await applyWebhooks(
    applying,
    changes.filter((change) => change.kind === 'webhook'),
  )
  await disable(applying, ofConnections)
  await addConnectors(applying, ofConnectors)
  await configureConnectors(applying, ofConnectors)
  await deleteConnections(applying, ofConnections)
  await createAndUpdate(applying, ofConnections)
  await applyAlertRules(
    applying,
    changes.filter((change) => change.kind === 'alertRule'),
  )
  await setSchedules(applying, ofConnections)
  await activate(applying, ofConnections)
  await removeConnectors(applying, ofConnectors)
  await enableAccounts(applying, ofAccounts)
  await deleteAccounts(applying, ofAccounts)
  const done = changes.filter((change) => !failures.has(change))
  for (const change of done) onDone?.(change)
  return { done, failed: [...failures.values()] }
}
