import { SetTransferGroups, type TransferGroup } from '@penstock/wire'
import { readAll } from '../read-all.ts'
import type { Entry } from '../resource-kind.ts'
import { type JsonSchema, object, of } from '../schema-parts.ts'
import { setOfAccount } from './set-of-account.ts'

type FileGroup = { name: string; transfersMax: number }
type DesiredGroup = Entry & { readonly transfersMax: number }

const item = of(SetTransferGroups, 'groups').items as JsonSchema

/** Groups of a sub-account, whose connections share a limit of transfers that run concurrently. */
export const transferGroup = setOfAccount<'groups', FileGroup, DesiredGroup, TransferGroup, FileGroup>(
  {
    kind: 'group',
    title: 'group',
    list: 'groups',
    plural: 'Groups',
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
  },
  ({ name, transfersMax }) => ({ name, transfersMax }),
  (client, accountId, groups) => client.setTransferGroups({ accountId, body: { groups } }),
)
