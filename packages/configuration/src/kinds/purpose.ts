import { isDeepStrictEqual } from 'node:util'
import { type Purpose, SetPurposes } from '@penstock/wire'
import { persistently } from '../calls.ts'
import { readAll } from '../read-all.ts'
import type { Applying, Change, Entry, ResourceKind } from '../resource-kind.ts'
import { type JsonSchema, object, of } from '../schema-parts.ts'

type FilePurpose = { name: string; signals: Purpose['signals']; uses?: Purpose['uses'] }
type DesiredPurpose = Entry & Pick<Purpose, 'signals' | 'uses'>
type PurposeChange = Change<DesiredPurpose, Purpose>

const item = of(SetPurposes, 'purposes').items as JsonSchema

/** Consent purposes of a sub-account, which connections require by name. A name is never changed. */
export const purpose: ResourceKind<'purposes', FilePurpose, DesiredPurpose, Purpose> = {
  kind: 'purpose',
  title: 'purpose',
  list: 'purposes',
  plural: 'Purposes',
  key: 'name',
  ofOrganization: false,
  destroyedBy: 'allowDestroy',
  nameOf: ({ name }) => name,
  identifierOf: ({ accountId, name }) => `${accountId}/${name}`,
  formerNames: async () => [],
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
  create: { stage: 'connectors', runAll: setPurposes },
  update: { stage: 'connectors', runAll: setPurposes },
  // Once no connection requires it.
  remove: { stage: 'unused connectors', runAll: setPurposes },
}

/** Sets the purposes of each sub-account in one call: the existing ones, with the changes. */
async function setPurposes(changes: readonly PurposeChange[], applying: Applying): Promise<void> {
  const { client } = applying
  const failing = [...Map.groupBy(changes, ({ account }) => account)].map(async ([account, some]) => {
    const accountId = some[0]?.existing?.accountId ?? applying.accountIds.get(account ?? '')
    const open = some.filter((change) => !applying.hasFailed(change) && !applying.lacks(change))
    if (accountId === undefined || open.length === 0) return
    try {
      const now = await readAll(client, 'listPurposes', accountId)
      const purposes = new Map(now.map(({ name, signals, uses }) => [name, { name, signals, uses }]))
      for (const { action, name, desired } of open) {
        if (action === 'delete') purposes.delete(name)
        else if (desired) purposes.set(name, { name, signals: desired.signals, uses: desired.uses })
      }
      await persistently(() => client.setPurposes({ accountId, body: { purposes: [...purposes.values()] } }))
    } catch (error) {
      for (const change of open) applying.fail(change, error)
    }
  })
  await Promise.all(failing)
}
