import type { Account } from '@penstock/wire'
import type { Applying } from './apply.ts'
import { persistently } from './calls.ts'
import { ChangedMeanwhile, isRefused } from './failures.ts'
import { creationKey, generationsMax } from './keys.ts'
import type { AccountChange } from './plan.ts'

/** Creates, renames and disables sub-accounts. */
export async function applyAccounts(applying: Applying, changes: readonly AccountChange[]): Promise<void> {
  const { client, accountIds } = applying
  await applying.each(
    changes.filter(({ action }) => action === 'create'),
    async ({ name, desired }) => {
      const { id } = await create(applying, { name, enabled: desired?.enabled ?? true })
      accountIds.set(name, id)
    },
  )
  await applying.each(
    changes.filter(({ action }) => action === 'update'),
    async ({ name, existing, desired, fields }) => {
      if (!existing) return
      const { id } = existing
      const { reply, etag } = await persistently(() => client.getAccount({ id }))
      const expected = { name: existing.name, enabled: existing.enabled }
      const changed = (['name', 'enabled'] as const).filter((key) => reply[key] !== expected[key])
      if (changed.length > 0) throw new ChangedMeanwhile(changed.map((field) => ({ field })))
      const body = { name, ...(desired?.enabled === false ? { enabled: false } : {}) }
      if (fields.some(({ field }) => field === 'name') || desired?.enabled === false)
        await editOnce(applying, id, body, etag)
    },
  )
}

/** Enables those that are to be enabled, once all in them is as it is to be. */
export const enableAccounts = (applying: Applying, changes: readonly AccountChange[]) =>
  applying.each(
    changes.filter(
      ({ action, fields }) => action === 'update' && fields.some(({ field, to }) => field === 'enabled' && to),
    ),
    async ({ existing }) => {
      if (existing) await persistently(() => applying.client.editAccount({ id: existing.id, body: { enabled: true } }))
    },
  )

export const deleteAccounts = (applying: Applying, changes: readonly AccountChange[]) =>
  applying.each(
    changes.filter(({ action }) => action === 'delete'),
    async ({ existing }) => {
      if (!existing) return
      try {
        await persistently(() => applying.client.deleteAccount({ id: existing.id }))
      } catch (error) {
        if (!isRefused(error, 'not_found')) throw error
      }
    },
  )

async function editOnce(
  { client }: Applying,
  id: string,
  body: { name: string; enabled?: boolean },
  ifMatch: string | undefined,
): Promise<void> {
  try {
    await persistently(() => client.editAccount({ id, body, ifMatch }))
  } catch (error) {
    if (!isRefused(error, 'precondition_failed')) throw error
    const { reply } = await persistently(() => client.getAccount({ id }))
    const differ = (Object.keys(body) as (keyof typeof body)[]).filter((key) => reply[key] !== body[key])
    if (differ.length > 0) throw new ChangedMeanwhile(differ.map((field) => ({ field })))
  }
}

/**
 * Creates a sub-account once, however often this runs and however many do at once: its key follows from its name. The first
 * answer of a key may be about one that was deleted or renamed since: then the next key counts.
 */
async function create({ client }: Applying, body: { name: string; enabled: boolean }): Promise<Pick<Account, 'id'>> {
  for (let generation = 0; generation < generationsMax; generation++) {
    const idempotencyKey = creationKey('account', '', body.name, generation)
    try {
      const { reply } = await persistently(() => client.addAccount({ body, idempotencyKey }))
      const { reply: now } = await persistently(() => client.getAccount({ id: reply.id }))
      if (now.name === body.name) return now
    } catch (error) {
      if (!isRefused(error, 'not_found', 'idempotency_key_reused')) throw error
    }
  }
  throw new Error(`The sub-account ${body.name} was created and deleted too often today: create it in the console.`)
}
