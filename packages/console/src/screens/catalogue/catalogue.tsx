import { Button, Group, Skeleton, Text } from '@mantine/core'
import { type CatalogueEntry, limits } from '@penstock/wire'
import { IconPlugConnected } from '@tabler/icons-react'
import { useCallback, useMemo, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useRead, useWrite } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Empty, Page } from '../../components/page.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { catalogue as say } from '../../strings/catalogue.ts'
import { Filters, useFilters } from './filters.tsx'
import { PickedConnectors } from './picked-connectors.tsx'
import { Tile, Tiles } from './tile.tsx'

const tilesOfSkeleton = 12

/** Connectors that move data come before the ones that can only be configured, each sorted by name. */
const movingFirst = (entries: readonly CatalogueEntry[]): CatalogueEntry[] =>
  [...entries].sort((a, b) => Number(b.transfer) - Number(a.transfer))

/** The connectors that there are, to be added to a sub-account: several at once, and then configured. */
export function Component() {
  const { accountId } = useAccount()
  const filters = useFilters()
  const navigate = useNavigate()
  const query = useRead(
    'listConnectors',
    { accountId, query: { ...filters.query, size: limits.pageSizeMax } },
    { keep: true },
  )
  const addedQuery = useRead('listAddedConnectors', { accountId, query: { size: limits.pageSizeMax } })
  const added = useMemo(
    () => new Set(addedQuery.data?.reply.map(({ connectorId }) => connectorId)),
    [addedQuery.data?.reply],
  )
  const [picked, setPicked] = useState<readonly CatalogueEntry[]>([])
  const toggle = useCallback(
    (entry: CatalogueEntry) =>
      setPicked((now) => {
        const others = now.filter(({ connectorId }) => connectorId !== entry.connectorId)
        return others.length < now.length ? others : [...now, entry]
      }),
    [],
  )
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
  return (
    <Page
      title={say.title}
      help={say.help}
      actions={
        <Button
          component={Link}
          to={pathOf(accountId, 'connectors')}
          variant="default"
          leftSection={<IconPlugConnected size={18} aria-hidden />}
        >
          {say.toConnectors}
        </Button>
      }
    >
      <Filters {...filters} />
      <Loaded query={query} skeleton={<TilesSkeleton />}>
        {({ reply }) => {
          const shown = movingFirst(
            reply.filter(
              ({ connectorId, transfer }) => (!filters.moves || transfer) && !(filters.fresh && added.has(connectorId)),
            ),
          )
          return (
            <>
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
                <Tiles label={say.title}>
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
            </>
          )
        }}
      </Loaded>
      {picked.length > 0 && (
        <PickedConnectors
          picked={picked}
          busy={add.isPending}
          onAdd={() => void addPicked()}
          onClear={() => setPicked([])}
        />
      )}
    </Page>
  )
}

function TilesSkeleton() {
  return (
    <Tiles label={say.title} busy>
      {Array.from({ length: tilesOfSkeleton }, (_, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: tiles of a skeleton have no identity but their position.
        <Skeleton key={place} height={148} role="listitem" />
      ))}
    </Tiles>
  )
}
