import { persistently } from '../calls.ts'
import type { AccountState, DesiredAccount, ManagedKind } from '../resource-kind.ts'
import { createOnce, deleteOnce, writeUnchanged } from '../writes.ts'

/** Sub-accounts. All other resources are in their lists, so that files are read and written by them. */
export const account: ManagedKind<DesiredAccount, AccountState> = {
  kind: 'account',
  title: 'sub-account',
  key: 'name',
  destroyedBy: 'allowDestroyAccounts',
  nameOf: ({ name }) => name,
  identifierOf: ({ id }) => id,
  audited: { action: 'editAccount', key: 'name' },
  diff({ name, enabled }, existing) {
    const isRenamed = existing && existing.name !== name
    const isSwitched = enabled !== undefined && enabled !== (existing?.enabled ?? true)
    return {
      fields: [
        ...(isRenamed ? [{ field: 'name', from: existing.name, to: name }] : []),
        ...(isSwitched ? [{ field: 'enabled', ...(existing ? { from: existing.enabled } : {}), to: enabled }] : []),
      ],
    }
  },
  create: {
    stage: 'accounts',
    async run({ name, desired }, { client, accountIds }) {
      const body = { name, enabled: desired?.enabled ?? true }
      const id = await createOnce(
        { kind: 'account', accountId: '', name },
        (idempotencyKey) => client.addAccount({ body, idempotencyKey }),
        (id) => client.getAccount({ id }),
      )
      accountIds.set(name, id)
    },
  },
  update: {
    stage: 'accounts',
    async run({ name, existing, desired }, { client }) {
      if (!existing) return
      const { id, enabled } = existing
      const isDisabled = desired?.enabled === false
      await writeUnchanged<Pick<AccountState, 'name' | 'enabled'>>({
        existing,
        wanted: { name, enabled: enabled && !isDisabled },
        differences: (from, to) => (['name', 'enabled'] as const).filter((key) => from[key] !== to[key]),
        read: () => client.getAccount({ id }),
        write: (ifMatch) =>
          client.editAccount({ id, body: { name, ...(isDisabled ? { enabled: false } : {}) }, ifMatch }),
      })
    },
  },
  also: [
    {
      // By then, everything in the sub-account is applied.
      stage: 'enable accounts',
      when: ({ action, fields }) => action === 'update' && fields.some(({ field, to }) => field === 'enabled' && to),
      async run({ existing }, { client }) {
        if (existing) await persistently(() => client.editAccount({ id: existing.id, body: { enabled: true } }))
      },
    },
  ],
  remove: {
    stage: 'delete accounts',
    async run({ existing }, { client }) {
      if (existing) await deleteOnce(() => client.deleteAccount({ id: existing.id }), 'not_found')
    },
  },
}
