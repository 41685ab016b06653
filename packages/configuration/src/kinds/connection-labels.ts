import type { FieldChange } from '../values.ts'
import type { ConnectionState, DesiredConnection } from './connection-steps.ts'

/** Tags are compared without their order; an owner that is left out stays. */
export function compareLabels(
  { tags, owner }: DesiredConnection,
  existing: ConnectionState | undefined,
): FieldChange[] {
  const before = { tags: existing?.tags ?? [], owner: existing?.owner?.email ?? '' }
  const key = (all: readonly string[]) => [...all].sort().join(',')
  return [
    ...(tags !== undefined && key(tags) !== key(before.tags)
      ? [{ field: 'tags', ...(existing ? { from: before.tags } : {}), to: tags }]
      : []),
    ...(owner !== undefined && owner !== before.owner.toLowerCase()
      ? [{ field: 'owner', ...(existing ? { from: before.owner } : {}), to: owner }]
      : []),
  ]
}
