import type { Webhook } from '@penstock/wire'
import type { DesiredWebhook } from './desired.ts'
import { matchAll, refuseTwins } from './match.ts'
import type { Planning, Unmanaged, WebhookChange } from './plan.ts'
import { type FieldChange, isSame } from './values.ts'

/** What is compared of a webhook. */
export type WebhookContent = Pick<Webhook, 'url' | 'description' | 'eventTypes' | 'enabled'>

/** An address as the service stores it. */
const normal = (url: string) => (URL.canParse(url.trim()) ? new URL(url.trim()).href : url.trim())

const sorted = (types: Webhook['eventTypes']) => types?.toSorted() ?? null

/** What differs between two webhooks, but for the order of their types. */
export const differencesOf = (from: WebhookContent, to: WebhookContent): (keyof WebhookContent)[] =>
  (['url', 'description', 'eventTypes', 'enabled'] as const).filter((key) =>
    key === 'eventTypes' ? !isSame(sorted(from[key]), sorted(to[key])) : from[key] !== to[key],
  )

/**
 * Plans the webhooks of the organization or of one sub-account, which are found by their addresses. One that the service
 * disabled is what the file says: it is enabled again together with a change that may have repaired it.
 * @param account the name of the sub-account; null: the organization
 */
export async function planWebhooks(
  account: string | null,
  desired: readonly DesiredWebhook[],
  there: readonly Webhook[],
  { options, resolver, problems, notes }: Planning,
  unmanaged: Unmanaged[],
): Promise<WebhookChange[]> {
  const entries = []
  for (const webhook of desired) {
    const { id, at } = webhook
    const [url, ...was] = await Promise.all(
      [webhook.url, ...webhook.was].map((text, index) =>
        resolver.resolve(text, index === 0 ? at('url') : at('was', index - 1), problems),
      ),
    )
    if (url === undefined || was.includes(undefined)) continue
    entries.push({ name: normal(url), was: was.map((one) => normal(one ?? '')), id, at, webhook })
  }
  const describe = ({ webhook }: { webhook: DesiredWebhook }) => `webhook ${webhook.url}`
  refuseTwins(entries, describe, problems)
  const named = there.map((webhook) => ({ id: webhook.id, name: webhook.url, webhook }))
  const matched = matchAll(entries, named, describe, problems)
  const changes: WebhookChange[] = []
  for (const entry of entries) {
    const { webhook, name: url, at } = entry
    const existing = matched.get(entry)?.webhook
    const wasOn = existing ? existing.enabled || existing.disabledReason !== null : true
    const { description, eventTypes, enabled = wasOn } = webhook
    let saves: WebhookContent = { url, description, eventTypes, enabled }
    const about = { kind: 'webhook', account, name: webhook.url, at: at('url') } as const
    if (!existing) {
      const fields: FieldChange[] = [
        ...(description === '' ? [] : [{ field: 'description', to: description }]),
        ...(eventTypes === null ? [] : [{ field: 'eventTypes', to: eventTypes }]),
        ...(enabled ? [] : [{ field: 'enabled', to: false }]),
      ]
      changes.push({ ...about, action: 'create', fields, saves })
      continue
    }
    if (existing.disabledReason !== null && enabled && isSame(differencesOf(existing, saves), ['enabled'])) {
      notes.push(
        `The service disabled the webhook ${webhook.url} (${existing.disabledReason}): once its receiver works, enable it in the console.`,
      )
      saves = { ...saves, enabled: false }
    }
    const fields = differencesOf(existing, saves).map((field) => ({
      ...{ field, from: existing[field], to: field === 'url' ? webhook.url : saves[field] },
    }))
    if (fields.length > 0) changes.push({ ...about, action: 'update', fields, saves, existing })
  }
  const taken = new Set([...matched.values()].map(({ webhook }) => webhook))
  for (const existing of there.filter((one) => !taken.has(one))) {
    const left = { kind: 'webhook', account, name: existing.url } as const
    if (options.allowDestroy) changes.push({ ...left, action: 'delete', fields: [], existing })
    else unmanaged.push(left)
  }
  if (changes.some(({ action }) => action === 'create'))
    notes.push(
      `The service makes the signing secret of a new webhook ${account === null ? '' : `of the sub-account ${account} `}and shows it once: apply with --webhook-secrets FILE to have it, or rotate it afterwards.`,
    )
  return changes
}
