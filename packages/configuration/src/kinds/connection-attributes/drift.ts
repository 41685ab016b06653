import { type DriftMode, SetDrift } from '@penstock/wire'
import { persistently } from '../../calls.ts'
import { ChangedMeanwhile } from '../../failures.ts'
import { of } from '../../schema-parts.ts'
import { type Attribute, changed } from './attribute.ts'

/** The reaction of a connection to changed columns. */
export const drift: Attribute<{ drift?: DriftMode | undefined }> = {
  schema: { drift: { ...of(SetDrift, 'drift'), description: 'Action if columns change. Omitted: no change' } },
  parse: ({ drift: wanted }) => ({ drift: wanted }),
  write: ({ drift: stored }) => (stored === undefined || stored === 'ignore' ? {} : { drift: stored }),
  compare: ({ drift: wanted }, existing) =>
    wanted !== undefined && wanted !== (existing?.drift ?? 'ignore')
      ? [changed('drift', existing, existing?.drift, wanted)]
      : [],
  async set(at, { drift: wanted }, existing, { client }) {
    if (wanted === undefined) return
    if (existing) {
      const { reply } = await persistently(() => client.getDrift(at))
      if (reply.drift !== existing.drift && reply.drift !== wanted) throw new ChangedMeanwhile([{ field: 'drift' }])
    }
    await persistently(() => client.setDrift({ ...at, body: { drift: wanted } }))
  },
}
