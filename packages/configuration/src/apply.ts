import { withBound } from './calls.ts'
import { ChangedMeanwhile, sayRefusal } from './failures.ts'
import { managed } from './kinds.ts'
import type { Plan } from './plan.ts'
import { ConfigurationError, type Problem } from './problems.ts'
import { type Applying, type ApplyOptions, type Change, type ManagedKind, type Step, stages } from './resource-kind.ts'

/** Applies a plan to a service. */

export type Applied = {
  readonly done: readonly Change[]
  readonly failed: readonly { readonly change: Change; readonly problem: Problem; readonly changedMeanwhile: boolean }[]
}

/**
 * Applies a plan, in the order of dependencies. Connections that must stop are disabled first, and connections are activated
 * last. A failed change stops only the changes that depend on it. Each step can be repeated, so that another plan can continue
 * where this one was interrupted.
 * @throws ConfigurationError if a secret cannot be resolved; in this case, nothing was changed
 */
export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<Applied> {
  if (plan.missing.length > 0) throw new ConfigurationError(plan.missing)
  const { client, resolver, onDone, onSecret } = options
  const failures = new Map<Change, Applied['failed'][number]>()
  const applying: Applying = {
    client,
    resolver,
    onSecret,
    accountIds: new Map(plan.accountIds),
    configurationIds: new Map(),
    connections: new Map(),
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
          (failed.kind === 'account' || (failed.kind === 'connector' && slugs.includes(failed.name))),
      ),
  }
  const { changes } = plan
  for (const stage of stages)
    for (const kind of managed)
      for (const { when, run, runAll, ...step } of stepsOf(kind)) {
        if (step.stage !== stage) continue
        const some = changes.filter((change) => change.kind === kind.kind && when(change))
        await runAll?.(some, applying)
        if (run) await applying.each(some, (change) => run(change, applying))
      }
  const done = changes.filter((change) => !failures.has(change))
  for (const change of done) onDone?.(change)
  return { done, failed: [...failures.values()] }
}

/** The steps of a kind, in their order within a stage, with the changes that take part in each step. */
function stepsOf({ remove, update, create, also = [] }: ManagedKind) {
  const taking = (step: Step<Change> | undefined, ...actions: Change['action'][]) =>
    step ? [{ when: ({ action }: Change) => actions.includes(action), ...step }] : []
  return [
    ...taking(remove, 'delete', 'replace'),
    ...taking(update, 'update'),
    ...taking(create, 'create', 'replace'),
    ...also.flatMap((step) => taking(step)),
  ]
}
