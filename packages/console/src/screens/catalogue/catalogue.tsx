import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { IconFileUpload, IconPlugConnected } from '@tabler/icons-react'
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useWrite } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Empty, Page } from '../../components/page.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { notHere, catalogue as say, route as sayRoute } from '../../strings/catalogue.ts'
import { Alternatives } from './alternatives.tsx'
import { Filters, useFilters } from './filters.tsx'
import { NotHere } from './not-here.tsx'
import { PickedConnectors } from './picked-connectors.tsx'
import { type Added, matching, routeOf, searched } from './route.ts'
import { RouteCard } from './route-card.tsx'
import { makeReader } from './sentence.ts'
import { SentenceChips } from './sentence-chips.tsx'
import { Tile, Tiles } from './tile.tsx'
import { useCatalogue, useWaitsForRoute } from './use-catalogue.ts'
import type { KnownConnector } from './vocabulary.ts'

const tilesOfSkeleton = 12

/** Connectors that move data come before the ones that can only be configured, each sorted by name. */
const movingFirst = (entries: readonly KnownConnector[]): KnownConnector[] =>
  [...entries].sort((a, b) => Number(b.transfer) - Number(a.transfer))

/** The catalogue: a sentence becomes a route, and without a sentence all connectors are listed, to be added and configured. */
export function Component() {
  const { accountId } = useAccount()
  const { query, connectors, added, isAddedKnown } = useCatalogue(accountId)
  const filters = useFilters(connectors)
  const configured: Added = useMemo(() => new Map([...added].map(([id, one]) => [id, one.configured])), [added])
  const read = useMemo(() => connectors && makeReader(connectors), [connectors])
  const text = useDeferredValue(filters.text)
  const sentence = useMemo(() => (read && text ? read(text) : undefined), [read, text])
  const isUnderstood = sentence?.parts.some(({ as }) => as === 'connector') === true
  const route = useMemo(
    () => (sentence && connectors && isAddedKnown ? routeOf(sentence, connectors, configured) : undefined),
    [sentence, connectors, configured, isAddedKnown],
  )
  const found = useMemo(() => {
    if (!connectors) return []
    if (!sentence) return connectors
    return isUnderstood ? matching(sentence, connectors) : searched(sentence.text, connectors)
  }, [connectors, sentence, isUnderstood])
  // A page that is opened with a sentence shows everything together, so that nothing moves while it loads.
  const waitsForRoute = useWaitsForRoute(route)
  const isReading = !query.isError && (connectors === undefined || !isAddedKnown)
  const isWaiting = filters.text !== '' && (isReading || waitsForRoute)
  const { picked, toggle, clear } = usePicked()
  return (
    <Page
      title={say.title}
      help={say.help}
      actions={
        <>
          <Button
            component={Link}
            to={pathOf(accountId, 'start')}
            variant="default"
            leftSection={<IconFileUpload size={18} aria-hidden />}
          >
            {notHere.upload.title}
          </Button>
          <Button
            component={Link}
            to={pathOf(accountId, 'connectors')}
            variant="default"
            leftSection={<IconPlugConnected size={18} aria-hidden />}
          >
            {say.toConnectors}
          </Button>
        </>
      }
    >
      <SearchBox label={say.search} placeholder={say.placeholder} wide />
      {isWaiting && <TilesSkeleton />}
      {!isWaiting && sentence && isUnderstood && (
        <Group justify="space-between" gap="sm">
          <SentenceChips sentence={sentence} route={route} onChange={filters.setText} />
          <Button variant="subtle" size="compact-sm" onClick={filters.clear}>
            {say.browseAll(count(connectors?.length ?? 0))}
          </Button>
        </Group>
      )}
      {!isWaiting && route && <RouteCard accountId={accountId} route={route} added={configured} />}
      {!isWaiting && sentence && route && <Alternatives sentence={sentence} route={route} onChange={filters.setText} />}
      {!isWaiting && isUnderstood && (
        <Title order={2} size="h5">
          {sayRoute.matches}
        </Title>
      )}
      {!isWaiting && (!isUnderstood || filters.narrows) && <Filters {...filters} />}
      {!isWaiting && (
        <Loaded query={query} skeleton={<TilesSkeleton />}>
          {() => {
            const shown = movingFirst(
              found.filter(
                (one) =>
                  filters.keeps(one) &&
                  (!filters.moves || one.transfer) &&
                  !(filters.fresh && added.has(one.connectorId)),
              ),
            )
            if (!connectors) return <TilesSkeleton />
            return (
              <Stack gap="lg">
                <Group justify="space-between" mih={30} gap="xs">
                  <Text size="sm" c="dimmed" role="status">
                    {say.found(count(shown.length), shown.length, filters.any)}
                  </Text>
                  {filters.any && (
                    <Button variant="subtle" size="compact-sm" onClick={filters.clear}>
                      {say.clearFilters}
                    </Button>
                  )}
                </Group>
                {shown.length === 0 ? (
                  <Empty title={say.noneFound} help={say.noneFoundHelp} />
                ) : (
                  <Tiles label={say.name}>
                    {shown.map((entry) => (
                      <Tile
                        key={entry.connectorId}
                        entry={entry}
                        accountId={accountId}
                        added={added.has(entry.connectorId)}
                        picked={picked.some(({ connectorId }) => connectorId === entry.connectorId)}
                        onToggle={toggle}
                      />
                    ))}
                  </Tiles>
                )}
                <NotHere accountId={accountId} />
              </Stack>
            )
          }}
        </Loaded>
      )}
      {picked.length > 0 && <AddPicked accountId={accountId} picked={picked} onClear={clear} />}
    </Page>
  )
}

/** The connectors that are ticked, over several searches. */
function usePicked() {
  const [picked, setPicked] = useState<readonly KnownConnector[]>([])
  const toggle = useCallback(
    (entry: KnownConnector) =>
      setPicked((now) => {
        const others = now.filter(({ connectorId }) => connectorId !== entry.connectorId)
        return others.length < now.length ? others : [...now, entry]
      }),
    [],
  )
  return { picked, toggle, clear: () => setPicked([]) }
}

function AddPicked({
  accountId,
  picked,
  onClear,
}: {
  accountId: string
  picked: readonly KnownConnector[]
  onClear: () => void
}) {
  const navigate = useNavigate()
  const add = useWrite('addConnectors')
  const addPicked = async () => {
    try {
      const connectorIds = picked.map(({ connectorId }) => connectorId)
      const { reply } = await add.mutateAsync({ accountId, body: { connectorIds } })
      notifyDone(say.added(reply.length, reply[0]?.name ?? ''))
      const [open, ...others] = reply.filter(({ configured }) => !configured)
      const next = open && others.length === 0 ? `?configure=${open.connectorId}` : ''
      void navigate(pathOf(accountId, 'connectors') + next)
    } catch (error) {
      notifyFailure(error)
    }
  }
  return <PickedConnectors picked={picked} busy={add.isPending} onAdd={() => void addPicked()} onClear={onClear} />
}

function TilesSkeleton() {
  return (
    <Tiles label={say.name} busy>
      {Array.from({ length: tilesOfSkeleton }, (_, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: tiles of a skeleton have no identity but their position.
        <Skeleton key={place} height={148} role="listitem" />
      ))}
    </Tiles>
  )
}
