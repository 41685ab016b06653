import { type AddedConnector, limits } from '@penstock/wire'
import { useEffect, useMemo, useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { catalogue as say } from '../../strings/catalogue.ts'
import { components } from '../../strings/components.ts'
import type { Route } from './route.ts'
import { type KnownConnector, withWords } from './vocabulary.ts'

/** The whole catalogue with the words for its connectors, and what of it the sub-account has. It fits on one page of the list. */
export function useCatalogue(accountId: string) {
  const query = { size: limits.pageSizeMax }
  const entries = useRead('listConnectors', { accountId, query })
  // Without the words, connectors are found by their names.
  const words = useRead('listConnectorWords', {})
  const addedList = useRead('listAddedConnectors', { accountId, query })
  const connectors = useMemo(
    () => (entries.data && !words.isPending ? withWords(entries.data.reply, words.data?.reply ?? []) : undefined),
    [entries.data, words.data, words.isPending],
  )
  const added = useMemo(() => byId(addedList.data?.reply ?? []), [addedList.data])
  return { query: entries, connectors, added, isAddedKnown: !addedList.isPending }
}

/** Whether the page waits for the definitions of a route. Once it has shown a route, it shows the next one immediately. */
export function useWaitsForRoute(route: Route | undefined): boolean {
  const ends = [route?.source, ...(route?.destinations ?? [])].map((end) => end?.connector.connectorId ?? '')
  const [source = '', first = '', second = ''] = ends
  const states = [
    useRead('getConnectorDefinition', { id: source }, { enabled: source !== '' }),
    useRead('getConnectorDefinition', { id: first }, { enabled: first !== '' }),
    useRead('getConnectorDefinition', { id: second }, { enabled: second !== '' }),
  ]
  const isReading = states.some(({ isFetching, data }) => isFetching && data === undefined)
  const [hasShown, setHasShown] = useState(false)
  useEffect(() => {
    if (!isReading && route) setHasShown(true)
  }, [isReading, route])
  return isReading && !hasShown
}

const byId = (list: readonly AddedConnector[]): ReadonlyMap<string, AddedConnector> =>
  new Map(list.map((one) => [one.connectorId, one]))

/** The kind of a connector as people call it, such as a database, or the type of its platform. */
export const kindOf = ({ kind, platformType }: Pick<KnownConnector, 'kind' | 'platformType'>): string =>
  (kind && say.kinds[kind]) ?? components.term(platformType)
