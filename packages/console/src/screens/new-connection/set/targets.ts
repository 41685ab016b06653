/**
 * The destinations of a set: connections that the wizard creates one after the other from one source. The address has
 * them. Afterwards, a tag holds the set together (`components/connection-set.ts`).
 */

/** A destination of the set. */
export type Target = {
  readonly connectorId: string
  /** Undefined: the first configuration of the connector. */
  readonly configurationId?: string
  /** Undefined until the connection is created. */
  readonly connectionId?: string
}

const id = /^[0-9a-f]{16}$/

/** Reads the destinations of an address. Entries that are not identifiers are omitted. */
export const readTargets = (text: string): readonly Target[] =>
  text.split(',').flatMap((entry) => {
    const [connectorId = '', configurationId = '', connectionId = ''] = entry.split('~')
    if (!id.test(connectorId)) return []
    return [
      {
        connectorId,
        ...(id.test(configurationId) && { configurationId }),
        ...(id.test(connectionId) && { connectionId }),
      },
    ]
  })

export const writeTargets = (targets: readonly Target[]): string =>
  targets
    .map(({ connectorId, configurationId = '', connectionId = '' }) =>
      [connectorId, configurationId, connectionId].join('~').replace(/~+$/, ''),
    )
    .join(',')

/** Whether two entries are the same configuration of the same connector. */
export const isSameTarget = (one: Target, other: Target): boolean =>
  one.connectorId === other.connectorId && one.configurationId === other.configurationId

/** The targets with one more, or without it if it was there. A target with a connection stays. */
export const toggleTarget = (targets: readonly Target[], target: Target): readonly Target[] =>
  targets.some((one) => isSameTarget(one, target))
    ? targets.filter((one) => one.connectionId !== undefined || !isSameTarget(one, target))
    : [...targets, target]

/** The next destination without a connection. */
export const pendingTarget = (targets: readonly Target[]): Target | undefined =>
  targets.find(({ connectionId }) => connectionId === undefined)

/** The targets, of which the next one without a connection has this one. */
export function withConnection(targets: readonly Target[], connectionId: string): readonly Target[] {
  const pending = pendingTarget(targets)
  return targets.map((target) => (target === pending ? { ...target, connectionId } : target))
}
