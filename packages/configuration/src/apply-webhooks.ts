import type { Webhook } from '@penstock/wire'
import type { Applying } from './apply.ts'
import { persistently } from './calls.ts'
import { ChangedMeanwhile, isRefused } from './failures.ts'
import type { WebhookChange } from './plan.ts'
import { differencesOf, type WebhookContent } from './plan-webhooks.ts'
import { readAll } from './service-state.ts'

/** Creates, changes and deletes webhooks: first those that go, so that the others stay below the limit. */
export async function applyWebhooks(applying: Applying, changes: readonly WebhookChange[]): Promise<void> {
  const { client } = applying
  await applying.each(
    changes.filter(({ action }) => action === 'delete'),
    async ({ existing }) => {
      if (existing)
        await change(applying, existing, null, (ifMatch) => client.deleteWebhook({ id: existing.id, ifMatch }))
    },
  )
  await applying.each(
    changes.filter(({ action }) => action === 'update'),
    async ({ existing, saves }) => {
      if (!existing || !saves) return
      const body = { ...saves, eventTypes: saves.eventTypes && [...saves.eventTypes] }
      await change(applying, existing, saves, (ifMatch) => client.updateWebhook({ id: existing.id, body, ifMatch }))
    },
  )
  await applying.each(
    changes.filter(({ action }) => action === 'create'),
    (webhook) => create(applying, webhook),
  )
}

/**
 * Writes what is still as the plan saw it.
 * @param wanted what another apply of the same files beside this one may have made of it; null: nothing
 */
async function change(
  { client }: Applying,
  existing: Webhook,
  wanted: WebhookContent | null,
  write: (ifMatch: string | undefined) => Promise<unknown>,
): Promise<void> {
  const { id } = existing
  const read = () => persistently(() => client.getWebhook({ id }))
  try {
    const { reply, etag } = await read()
    const changed = differencesOf(existing, reply)
    if (wanted && differencesOf(reply, wanted).length === 0) return
    if (changed.length > 0) throw new ChangedMeanwhile(changed.map((field) => ({ field })))
    await persistently(() => write(etag))
  } catch (error) {
    if (isRefused(error, 'not_found') && !wanted) return
    if (isRefused(error, 'not_found')) throw new ChangedMeanwhile([])
    if (!isRefused(error, 'precondition_failed')) throw error
    const { reply } = await read()
    const differ = wanted ? differencesOf(reply, wanted) : differencesOf(existing, reply)
    if (!wanted || differ.length > 0) throw new ChangedMeanwhile(differ.map((field) => ({ field })))
  }
}

/**
 * Creates a webhook once. Its creation cannot be repeated under a key, since its answer is a secret that the service does not
 * store. So the list is read before each try, and afterwards: of those that were created at once, the list has the first
 * one last, and it stays.
 */
async function create(applying: Applying, change: WebhookChange): Promise<void> {
  const { client, accountIds, onSecret } = applying
  const { saves, account, name } = change
  const accountId = account === null ? null : accountIds.get(account)
  if (!saves || accountId === undefined) return
  const ofUrl = async () =>
    (await readAll(client, 'listWebhooks', accountId ?? undefined)).filter(
      (one) => one.accountId === accountId && one.url === saves.url,
    )
  const made = await persistently(async () => {
    if ((await ofUrl()).length > 0) return undefined
    const body = { ...saves, accountId, eventTypes: saves.eventTypes && [...saves.eventTypes] }
    return (await client.createWebhook({ body })).reply
  })
  const first = (await ofUrl()).at(-1)
  if (made && first?.id === made.id) {
    await onSecret?.({ account, url: saves.url, id: made.id, secret: made.secret })
    return
  }
  if (made) await persistently(() => client.deleteWebhook({ id: made.id }))
  if (!first || differencesOf(first, saves).length > 0) throw new ChangedMeanwhile([{ field: name }])
}
