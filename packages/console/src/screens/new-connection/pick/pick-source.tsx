import { Stack, Text } from '@mantine/core'
import { type Upload, uploadedFileConnectorId } from '@penstock/wire'
import { useForbidden } from '../../../api/me.ts'
import { useWrite } from '../../../api/queries.ts'
import { useAddress } from '../../../components/address.ts'
import { Failure } from '../../../components/failure.tsx'
import { Loaded } from '../../../components/loaded.tsx'
import { notifyDone } from '../../../components/notify.ts'
import { Empty, Toolbar } from '../../../components/page.tsx'
import { SearchBox } from '../../../components/search-box.tsx'
import { titleOfFile } from '../../../components/use-upload.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { start as sayStart } from '../../../strings/start.ts'
import { UploadHere } from '../set-up/upload-here.tsx'
import { configurationKey, useWizard } from '../wizard.ts'
import { matchesSearch, splitAdded, useCatalogue, usePick } from './catalogue.ts'
import { type Tile, Tiles } from './connector-tiles.tsx'

/** The first step: where the data comes from. */
export function PickSource() {
  const { accountId, sourceId, go, setText, setValue, draft, keys } = useWizard()
  const q = useAddress().value('sources')
  const { all, added, saved, tilesOf } = useCatalogue()
  const { busy, failure, pick } = usePick(({ connectorId, configurationId }) => {
    setText(configurationKey('source', connectorId), configurationId)
    go('destination', { source: connectorId })
  })
  const add = useWrite('addConnectors')
  const mayAdd = useForbidden('addConnectors')
  /** Goes on with a file that was just uploaded. */
  const begin = async ({ id, name }: Upload) => {
    await add.mutateAsync({ accountId, body: { connectorIds: [uploadedFileConnectorId] } })
    setText(keys.name, titleOfFile(name))
    setValue(`source of ${uploadedFileConnectorId}`, 'upload', id)
    notifyDone(sayStart.uploaded(name))
    go('destination', { source: uploadedFileConnectorId })
  }
  const isPicked = ({ connectorId, configurationId }: Tile) =>
    connectorId === sourceId && configurationId === draft.texts[configurationKey('source', connectorId)]
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed">
        {say.sourceHelp}
      </Text>
      <Toolbar>
        <SearchBox name="sources" label={say.searchSources} />
        {mayAdd === undefined && <UploadHere compact onUploaded={begin} />}
      </Toolbar>
      {failure !== undefined && <Failure error={failure} />}
      <Loaded query={added} lines={6}>
        {() => (
          <Loaded query={saved} lines={6}>
            {() => (
              <Loaded query={all} lines={6}>
                {({ reply }) => {
                  const sources = reply
                    .filter(({ supportedType }) => supportedType !== 'Destination')
                    .flatMap(tilesOf)
                    .filter((tile) => matchesSearch(tile, q))
                  const { added, others } = splitAdded(sources)
                  if (sources.length === 0) return <Empty title={say.noneFound} />
                  return (
                    <>
                      <Tiles title={say.addedOnes} tiles={added} isPicked={isPicked} busy={busy} onPick={pick} />
                      <Tiles title={say.catalogueOnes} tiles={others} isPicked={isPicked} busy={busy} onPick={pick} />
                    </>
                  )
                }}
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
    </Stack>
  )
}
