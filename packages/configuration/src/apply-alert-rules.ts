import type { AlertRule } from '@penstock/wire'
import type { Applying } from './apply.ts'
import { persistently } from './calls.ts'
import { ChangedMeanwhile, isRefused } from './failures.ts'
import { creationKey, generationsMax } from './keys.ts'
import type { AlertRuleChange } from './plan.ts'
import { type AlertRuleContent, differencesOf } from './plan-alert-rules.ts'
import type { Position, Problem } from './problems.ts'
import { readAll } from './service-state.ts'
import { describeAll, isSame } from './values.ts'

/** Creates, changes and deletes alert rules, once the connections are there that they name. */
export async function applyAlertRules(applying: Applying, changes: readonly AlertRuleChange[]): Promise<void> {
  const { client } = applying
  await applying.each(
    changes.filter(({ action }) => action === 'delete'),
    async ({ existing }) => {
      if (!existing) return
      const { id } = existing
      try {
        const { etag: ifMatch } = await readUnchanged(applying, existing)
        await persistently(() => client.deleteAlertRule({ id, ifMatch }))
      } catch (error) {
        if (isRefused(error, 'precondition_failed')) throw new ChangedMeanwhile([])
        if (!isRefused(error, 'not_found')) throw error
      }
    },
  )
  await applying.each(
    changes.filter(({ action }) => action === 'update'),
    async (change) => {
      const { existing, saves } = change
      if (!existing || !saves) return
      const { id } = existing
      const body = await bodyOf(applying, change, saves)
      try {
        const { etag: ifMatch } = await readUnchanged(applying, existing, {
          ...saves,
          connectionIds: body.connectionIds,
        })
        await persistently(() => client.updateAlertRule({ id, body, ifMatch }))
      } catch (error) {
        if (isRefused(error, 'not_found')) throw new ChangedMeanwhile([])
        if (!isRefused(error, 'precondition_failed')) throw error
        const { reply } = await persistently(() => client.getAlertRule({ id }))
        requireSame(reply, { ...saves, connectionIds: body.connectionIds })
      }
    },
  )
  await applying.each(
    changes.filter(({ action }) => action === 'create'),
    (change) => create(applying, change),
  )
}

type Content = AlertRuleContent & Pick<AlertRule, 'connectionIds'>

const fieldsThatDiffer = (from: Content, to: Content): string[] => [
  ...differencesOf(from, to).map(({ field }) => field),
  ...(isSame(from.connectionIds?.toSorted() ?? null, to.connectionIds?.toSorted() ?? null) ? [] : ['connections']),
]

function requireSame(from: Content, to: Content): void {
  const differ = fieldsThatDiffer(from, to)
  if (differ.length > 0) throw new ChangedMeanwhile(differ.map((field) => ({ field })))
}

/**
 * The rule as it is, and its version, where it is as the plan saw it, or as another apply of the same files beside this one has
 * made it by now.
 */
async function readUnchanged({ client }: Applying, existing: AlertRule, wanted?: Content) {
  const read = await persistently(() => client.getAlertRule({ id: existing.id }))
  if (!wanted || fieldsThatDiffer(read.reply, wanted).length > 0) requireSame(existing, read.reply)
  return read
}

/** What is sent. Secrets are resolved here, so that nothing keeps them. */
async function bodyOf(applying: Applying, change: AlertRuleChange, saves: AlertRuleContent) {
  const problems: Problem[] = []
  const secrets: Record<string, string | null> = {}
  for (const [key, text] of Object.entries(change.secrets)) {
    const value = text === null ? null : await applying.resolver.resolve(text, change.at as Position, problems)
    if (value !== undefined) secrets[key] = value
  }
  if (problems.length > 0) throw describeAll(problems)
  const connectionIds =
    change.connections?.map((target) => {
      if ('id' in target) return target.id
      const made = applying.connections.get(target.change)
      if (!made) throw `The connection ${target.change.name} could not be created.`
      return made.id
    }) ?? null
  const { name, enabled, conditions, emails, emailRoles } = saves
  return { ...{ name, enabled, conditions, emails, emailRoles, connectionIds }, ...secrets }
}

/** Creates a rule once, however often this runs and however many do at once: its key follows from its name. */
async function create(applying: Applying, change: AlertRuleChange): Promise<void> {
  const { client, accountIds } = applying
  const { saves, name, account } = change
  const accountId = account === null ? null : accountIds.get(account)
  if (!saves || accountId === undefined) return
  const body = { ...(await bodyOf(applying, change, saves)), accountId }
  for (let generation = 0; generation < generationsMax; generation++) {
    const idempotencyKey = creationKey('alert rule', accountId ?? '', name, generation)
    try {
      const { reply } = await persistently(() => client.createAlertRule({ body, idempotencyKey }))
      const { reply: now } = await persistently(() => client.getAlertRule({ id: reply.id }))
      if (now.name === name) return
    } catch (error) {
      if (!isRefused(error, 'not_found', 'idempotency_key_reused')) throw error
    }
    // The answer was about one that is gone, or another apply asked for something else under this key.
    const rules = await readAll(client, 'listAlertRules', accountId ?? undefined)
    if (rules.some((rule) => rule.accountId === accountId && rule.name === name))
      throw new ChangedMeanwhile([{ field: 'name' }])
  }
  throw 'It was created and deleted too often today: create it in the console, then plan again.'
}
