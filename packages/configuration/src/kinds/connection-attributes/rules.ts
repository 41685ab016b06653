import { type Blackout, type ConnectionRule, type ConnectionWithSettings, SetConnectionRules } from '@penstock/wire'
import { persistently } from '../../calls.ts'
import { ChangedMeanwhile } from '../../failures.ts'
import { type JsonSchema, of } from '../../schema-parts.ts'
import { type Attribute, changed } from './attribute.ts'

type File = { rules?: readonly ConnectionRule[] | undefined; blackout?: Blackout | undefined }
type Rules = { readonly rules: readonly ConnectionRule[]; readonly blackout: Blackout | null }

const keys = ['rules', 'blackout'] as const

/** The rules of a connection and its blackout. */
export const rules: Attribute<File> = {
  schema: {
    rules: {
      ...of(SetConnectionRules, 'rules'),
      description: 'All of its rules, which judge each transfer. Omitted: no change',
    },
    blackout: {
      ...((of(SetConnectionRules, 'blackout').anyOf as JsonSchema[])[0] as JsonSchema),
      description: 'Weekly windows in which no transfer starts. Omitted: none if there are rules, otherwise no change',
    },
  },
  parse: ({ rules, blackout }) => ({ rules, blackout }),
  write: ({ rules = [], blackout }) => ({ ...(rules.length > 0 ? { rules } : {}), ...(blackout ? { blackout } : {}) }),
  compare(entry, existing) {
    const wanted = wantedRules(entry, existing)
    if (!wanted) return []
    return keys
      .filter((key) => textOf(wanted[key]) !== textOf(existing?.[key]))
      .map((key) => changed(key, existing, existing?.[key], wanted[key]))
  },
  async set(at, entry, existing, { client }) {
    const wanted = wantedRules(entry, existing)
    if (!wanted) return
    if (existing) {
      const { reply } = await persistently(() => client.getConnectionRules(at))
      if (!isSame(reply, existing) && !isSame(reply, wanted)) throw new ChangedMeanwhile([{ field: 'rules' }])
    }
    await persistently(() => client.setConnectionRules({ ...at, body: { ...wanted, rules: [...wanted.rules] } }))
  },
}

/** The rules in a file; `undefined` if it has neither rules nor a blackout. A blackout that is omitted is removed. */
function wantedRules(
  { rules, blackout }: File,
  existing: Pick<ConnectionWithSettings, 'rules'> | undefined,
): Rules | undefined {
  if (rules === undefined && blackout === undefined) return undefined
  return { rules: rules ?? existing?.rules ?? [], blackout: blackout ?? null }
}

/** The service can return keys in another order. */
const isSame = (some: Partial<Rules>, others: Partial<Rules>): boolean =>
  keys.every((key) => textOf(some[key]) === textOf(others[key]))

/** Text that does not depend on the order of keys. Missing rules equal an empty list. */
const textOf = (value: Rules['rules'] | Rules['blackout'] | undefined): string =>
  JSON.stringify(Array.isArray(value) && value.length === 0 ? null : (value ?? null), (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
