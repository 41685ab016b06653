import { isDeepStrictEqual } from 'node:util'
import { type Purpose, SetPurposes } from '@penstock/wire'
import { readAll } from '../read-all.ts'
import type { Entry } from '../resource-kind.ts'
import { type JsonSchema, object, of } from '../schema-parts.ts'
import { setOfAccount } from './set-of-account.ts'

type FilePurpose = { name: string; signals: Purpose['signals']; uses?: Purpose['uses'] }
type DesiredPurpose = Entry & Pick<Purpose, 'signals' | 'uses'>

const item = of(SetPurposes, 'purposes').items as JsonSchema

/** Consent purposes of a sub-account, which connections require by name. */
export const purpose = setOfAccount<'purposes', FilePurpose, DesiredPurpose, Purpose, FilePurpose>(
  {
    kind: 'purpose',
    title: 'purpose',
    list: 'purposes',
    plural: 'Purposes',
    schema: () =>
      object(
        ['name', 'signals'],
        { name: of(item, 'name'), signals: of(item, 'signals'), uses: of(item, 'uses') },
        'A consent purpose, and the columns that say whether a person agreed',
      ),
    parse: ({ name, signals, uses = [] }, at) => ({ name: name.trim(), was: [], signals, uses, at }),
    write: ({ name, signals, uses }) => ({ name, signals, ...(uses.length > 0 && { uses }) }),
    read: (client, accountId) => readAll(client, 'listPurposes', accountId),
    diff: (desired, existing) => ({
      fields: (['signals', 'uses'] as const).flatMap((field) => {
        const [from, to] = [existing?.[field] ?? [], desired[field]]
        if (isDeepStrictEqual(from, to)) return []
        return [{ field, ...(existing && { from: JSON.stringify(from) }), to: JSON.stringify(to) }]
      }),
    }),
  },
  ({ name, signals, uses }) => ({ name, signals, uses }),
  (client, accountId, purposes) => client.setPurposes({ accountId, body: { purposes } }),
)
