import { Button, Collapse, Stack, Switch, Text } from '@mantine/core'
import { type CatalogueEntry, incompatibilities } from '@penstock/wire'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { useRead } from '../../../api/queries.ts'
import { useAddress } from '../../../components/address.ts'
import { Failure } from '../../../components/failure.tsx'
import { Loaded } from '../../../components/loaded.tsx'
import { count } from '../../../components/numbers.ts'
import { Empty, Toolbar } from '../../../components/page.tsx'
import { SearchBox } from '../../../components/search-box.tsx'
import { connectionSet as saySet } from '../../../strings/connection-set.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { PickedTargets } from '../set/picked-targets.tsx'
import { isSameTarget, type Target, toggleTarget, writeTargets } from '../set/targets.ts'
import { configurationKey, useWizard } from '../wizard.ts'
import { matchesSearch, splitAdded, useCatalogue, usePick } from './catalogue.ts'
import { Incompatible, type Tile, Tiles, titleOf } from './connector-tiles.tsx'

/** The second step: where the data goes. The service says what fits the source; of the rest, the rule says why not. */
export function PickDestination() {
  const { accountId, sourceId, destinationId, targets, set, draft, setText, go } = useWizard()
  const { value, change } = useAddress()
  const q = value('destinations')
  const { all, added, saved, tilesOf } = useCatalogue()
  const fitting = useRead('listSupportedConnectors', { accountId, query: { srcConnectorId: sourceId } })
  const [isSeveral, setSeveral] = useState(targets.length > 0)
  const toggle = (tile: Tile) => change({ targets: writeTargets(toggleTarget(targets, targetOf(tile))) })
  const { busy, failure, pick } = usePick((tile) => {
    if (isSeveral) return toggle(tile)
    setText(configurationKey('destination', tile.connectorId), tile.configurationId)
    go('settings', { destination: tile.connectorId, targets: '', set: '' })
  })
  const isPicked = (tile: Tile) =>
    isSeveral
      ? targets.some((one) => isSameTarget(one, targetOf(tile)))
      : tile.connectorId === destinationId &&
        tile.configurationId === draft.texts[configurationKey('destination', tile.connectorId)]
  const sourceTile = all.data?.reply
    .flatMap(tilesOf)
    .find(
      ({ connectorId, configurationId }) =>
        connectorId === sourceId && configurationId === draft.texts[configurationKey('source', sourceId)],
    )
  return (
    <Stack gap="lg">
      <Loaded query={all} lines={1}>
        {() => (
          <Text size="sm" c="dimmed">
            {say.destinationHelp(sourceTile ? titleOf(sourceTile) : '')}
          </Text>
        )}
      </Loaded>
      <Toolbar>
        <SearchBox name="destinations" label={say.searchDestinations} />
        <Switch
          label={saySet.several}
          checked={isSeveral}
          disabled={set !== ''}
          mb={8}
          onChange={({ currentTarget }) => {
            setSeveral(currentTarget.checked)
            if (!currentTarget.checked) change({ targets: '' })
          }}
        />
      </Toolbar>
      {isSeveral && (
        <Text size="sm" c="dimmed">
          {saySet.severalHelp}
        </Text>
      )}
      {failure !== undefined && <Failure error={failure} />}
      <Loaded query={fitting} lines={6}>
        {({ reply: supported }) => (
          <Loaded query={added} lines={6}>
            {() => (
              <Loaded query={saved} lines={6}>
                {() => {
                  const found = supported.flatMap(tilesOf).filter((tile) => matchesSearch(tile, q))
                  const { added, others } = splitAdded(found)
                  return (
                    <>
                      {found.length === 0 && <Empty title={q ? say.noneFound : say.noneCompatible} />}
                      <Tiles title={say.addedOnes} tiles={added} isPicked={isPicked} busy={busy} onPick={pick} />
                      <Tiles title={say.catalogueOnes} tiles={others} isPicked={isPicked} busy={busy} onPick={pick} />
                      <Others
                        source={all.data?.reply.find(({ connectorId }) => connectorId === sourceId)}
                        entries={(all.data?.reply ?? []).filter(
                          (entry) =>
                            matchesSearch(entry, q) &&
                            !supported.some(({ connectorId }) => connectorId === entry.connectorId),
                        )}
                        searching={q !== ''}
                      />
                    </>
                  )
                }}
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
      {isSeveral && <PickedTargets sourceName={sourceTile ? titleOf(sourceTile) : ''} />}
    </Stack>
  )
}

const targetOf = ({ connectorId, configurationId }: Tile): Target => ({
  connectorId,
  ...(configurationId !== undefined && { configurationId }),
})

/** Incompatible destinations, and why; expanded while the user searches for one by name. */
function Others({
  source,
  entries,
  searching,
}: {
  source: CatalogueEntry | undefined
  entries: readonly CatalogueEntry[]
  searching: boolean
}) {
  const [opened, setOpened] = useState(false)
  if (!source || entries.length === 0) return null
  const shown = opened || searching
  // Connectors that can be a destination of another source come first, connectors that are no destination come last.
  const incompatible = entries
    .map((entry) => ({ entry, reasons: incompatibilities(source, entry) }))
    .sort((one, other) => Number(one.entry.supportedType === 'Source') - Number(other.entry.supportedType === 'Source'))
  return (
    <Stack gap="sm" align="stretch">
      <Button
        variant="subtle"
        color="gray"
        size="xs"
        style={{ alignSelf: 'flex-start' }}
        aria-expanded={shown}
        leftSection={shown ? <IconChevronDown size={16} aria-hidden /> : <IconChevronRight size={16} aria-hidden />}
        onClick={() => setOpened(!shown)}
      >
        {say.incompatible(count(entries.length))}
      </Button>
      <Collapse expanded={shown}>
        <Incompatible entries={incompatible} />
      </Collapse>
    </Stack>
  )
}
