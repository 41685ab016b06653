import { Button, Collapse, Stack, Text } from '@mantine/core'
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
import { newConnection as say } from '../../../strings/new-connection.ts'
import { useWizard } from '../wizard.ts'
import { matchesSearch, splitAdded, useCatalogue, usePick } from './catalogue.ts'
import { Incompatible, Tiles } from './connector-tiles.tsx'

/** The second step: where the data goes. The service says what fits the source; of the rest, the rule says why not. */
export function PickDestination() {
  const { accountId, sourceId, destinationId, go } = useWizard()
  const q = useAddress().value('destinations')
  const { all, added, tileOf } = useCatalogue()
  const fitting = useRead('listSupportedConnectors', { accountId, query: { srcConnectorId: sourceId } })
  const { busy, failure, pick } = usePick((destination) => go('settings', { destination }))
  return (
    <Stack gap="lg">
      <Loaded query={all} lines={1}>
        {({ reply }) => (
          <Text size="sm" c="dimmed">
            {say.destinationHelp(reply.find(({ connectorId }) => connectorId === sourceId)?.name ?? '')}
          </Text>
        )}
      </Loaded>
      <Toolbar>
        <SearchBox name="destinations" label={say.searchDestinations} />
      </Toolbar>
      {failure !== undefined && <Failure error={failure} />}
      <Loaded query={fitting} lines={6}>
        {({ reply: supported }) => (
          <Loaded query={added} lines={6}>
            {() => {
              const found = supported.filter((entry) => matchesSearch(entry, q))
              const { added, others } = splitAdded(found.map(tileOf))
              return (
                <>
                  {found.length === 0 && <Empty title={q ? say.noneFound : say.noneCompatible} />}
                  <Tiles title={say.addedOnes} tiles={added} picked={destinationId} busy={busy} onPick={pick} />
                  <Tiles title={say.catalogueOnes} tiles={others} picked={destinationId} busy={busy} onPick={pick} />
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
    </Stack>
  )
}

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
