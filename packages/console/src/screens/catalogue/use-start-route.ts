import type { ConnectorDefinition } from '@penstock/wire'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useRead, useWrite } from '../../api/queries.ts'
import { pathOf } from '../../shell/account.ts'
import { route as say } from '../../strings/catalogue.ts'
import { beginDraft } from '../new-connection/draft.ts'
import { freeTag } from '../new-connection/set/free-tag.ts'
import { writeTargets } from '../new-connection/set/targets.ts'
import type { Route } from './route.ts'
import { type Entity, entities } from './vocabulary.ts'

/** Starts a route: adds the connectors that are missing, and opens the wizard with both sides chosen. */
export function useStartRoute(accountId: string, { source, destinations, entity }: Route) {
  const navigate = useNavigate()
  const add = useWrite('addConnectors')
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const sourceId = source?.connector.connectorId ?? ''
  const { data } = useRead('getConnectorDefinition', { id: sourceId }, { enabled: sourceId !== '' })
  const settings = settingsFor(data?.reply, entity)
  const start = async () => {
    if (!source) return
    setBusy(true)
    setFailure(undefined)
    try {
      const [first, ...others] = destinations.map(({ connector }) => connector)
      const targets = destinations.map(({ connector: { connectorId } }) => ({ connectorId }))
      const connectorIds = [sourceId, ...targets.map(({ connectorId }) => connectorId)]
      await add.mutateAsync({ accountId, body: { connectorIds } })
      if (first) {
        const name = say.name(source.connector.platform, entity && say.entities[entity.id], first.platform)
        beginDraft(accountId, sourceId, { name, settings })
      }
      const picks = new URLSearchParams({ source: sourceId, step: first ? 'settings' : 'destination' })
      if (first) picks.set('destination', first.connectorId)
      if (others.length > 0) {
        picks.set('targets', writeTargets(targets))
        picks.set('set', await freeTag(accountId, source.connector.name))
      }
      await navigate(`${pathOf(accountId, 'connections/new')}?${picks}`)
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return { start: () => void start(), busy, failure, settings }
}

/** The choice of the source that has the name of what is moved, such as the stream `Orders`; empty if it has none. */
export function settingsFor(
  definition: Pick<ConnectorDefinition, 'source'> | undefined,
  entity: Entity | undefined,
): Record<string, string> {
  const words = new Set(entities.find(({ id }) => id === entity?.id)?.words)
  for (const { name, options, type } of definition?.source?.fields ?? []) {
    const option = type === 'Select' ? options?.find((one) => words.has(one.toLowerCase())) : undefined
    if (option !== undefined) return { [name]: option }
  }
  return {}
}
