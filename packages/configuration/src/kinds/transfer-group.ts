import { SetTransferGroups, type TransferGroup } from '@penstock/wire'
import { persistently } from '../calls.ts'
import { readAll } from '../read-all.ts'
import type { Applying, Change, Entry, ResourceKind } from '../resource-kind.ts'
import { type JsonSchema, object, of } from '../schema-parts.ts'

type FileGroup = { name: string; transfersMax: number }
type DesiredGroup = Entry & { readonly transfersMax: number }
type GroupChange = Change<DesiredGroup, TransferGroup>

const item = of(SetTransferGroups, 'groups').items as JsonSchema

/** Groups of a sub-account, whose connections share a limit of transfers that run concurrently. A name is never changed. */
export const transferGroup: ResourceKind<'groups', FileGroup, DesiredGroup, TransferGroup> = {
  kind: 'group',
  title: 'group',
  list: 'groups',
  plural: 'Groups',
  key: 'name',
  ofOrganization: false,
  destroyedBy: 'allowDestroy',
  nameOf: ({ name }) => name,
  identifierOf: ({ accountId, name }) => `${accountId}/${name}`,
  formerNames: async () => [],
  schema: () =>
    object(
      ['name', 'transfersMax'],
      { name: of(item, 'name'), transfersMax: of(item, 'transfersMax') },
      'A group, whose connections share a limit',
    ),
  parse: ({ name, transfersMax }, at) => ({ name: name.trim(), was: [], transfersMax, at }),
  write: ({ name, transfersMax }) => ({ name, transfersMax }),
  read: (client, accountId) => readAll(client, 'listTransferGroups', accountId),
  diff: ({ transfersMax }, existing) => ({
    fields:
      transfersMax === existing?.transfersMax
        ? []
        : [{ field: 'transfersMax', ...(existing ? { from: existing.transfersMax } : {}), to: transfersMax }],
  }),
  create: { stage: 'connectors', runAll: setGroups },
  update: { stage: 'connectors', runAll: setGroups },
  // Once no connection is in it.
  remove: { stage: 'unused connectors', runAll: setGroups },
}

/** Sets the groups of each sub-account in one call: the existing ones, with the changes. */
async function setGroups(changes: readonly GroupChange[], applying: Applying): Promise<void> {
  const { client } = applying
  const failing = [...Map.groupBy(changes, ({ account }) => account)].map(async ([account, some]) => {
    const accountId = some[0]?.existing?.accountId ?? applying.accountIds.get(account ?? '')
    const open = some.filter((change) => !applying.hasFailed(change) && !applying.lacks(change))
    if (accountId === undefined || open.length === 0) return
    try {
      const now = await readAll(client, 'listTransferGroups', accountId)
      const groups = new Map(now.map(({ name, transfersMax }) => [name, transfersMax]))
      for (const { action, name, desired } of open) {
        if (action === 'delete') groups.delete(name)
        else if (desired) groups.set(name, desired.transfersMax)
      }
      const body = { groups: [...groups].map(([name, transfersMax]) => ({ name, transfersMax })) }
      await persistently(() => client.setTransferGroups({ accountId, body }))
    } catch (error) {
      for (const change of open) applying.fail(change, error)
    }
  })
  await Promise.all(failing)
}
