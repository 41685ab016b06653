import { Stack, Text } from '@mantine/core'
import { useAddress } from '../../../components/address.ts'
import { Failure } from '../../../components/failure.tsx'
import { Loaded } from '../../../components/loaded.tsx'
import { Empty, Toolbar } from '../../../components/page.tsx'
import { SearchBox } from '../../../components/search-box.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { useWizard } from '../wizard.ts'
import { matchesSearch, splitAdded, useCatalogue, usePick } from './catalogue.ts'
import { Tiles } from './connector-tiles.tsx'

/** The first step: where the data comes from. */
export function PickSource() {
  const { sourceId, go } = useWizard()
  const q = useAddress().value('sources')
  const { all, added, tileOf } = useCatalogue()
  const { busy, failure, pick } = usePick((source) => go('destination', { source }))
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed">
        {say.sourceHelp}
      </Text>
      <Toolbar>
        <SearchBox name="sources" label={say.searchSources} />
      </Toolbar>
      {failure !== undefined && <Failure error={failure} />}
      <Loaded query={added} lines={6}>
        {() => (
          <Loaded query={all} lines={6}>
            {({ reply }) => {
              const sources = reply.filter((entry) => entry.supportedType !== 'Destination' && matchesSearch(entry, q))
              const { added, others } = splitAdded(sources.map(tileOf))
              if (sources.length === 0) return <Empty title={say.noneFound} />
              return (
                <>
                  <Tiles title={say.addedOnes} tiles={added} picked={sourceId} busy={busy} onPick={pick} />
                  <Tiles title={say.catalogueOnes} tiles={others} picked={sourceId} busy={busy} onPick={pick} />
                </>
              )
            }}
          </Loaded>
        )}
      </Loaded>
    </Stack>
  )
}
