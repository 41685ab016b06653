import { Alert, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type ConnectionDetails, mayTransfer } from '@penstock/wire'
import { IconInfoCircle } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { Changed, isChanged } from '../../components/changed.tsx'
import { Failure } from '../../components/failure.tsx'
import { errorsOf } from '../../components/fields/field-errors.ts'
import { Loaded } from '../../components/loaded.tsx'
import { newConnection as say } from '../../strings/new-connection.ts'
import { TestButton } from '../connection/test-transfer.tsx'
import { useReasons } from '../connection/use-connection.ts'
import { MapColumns } from './map-columns.tsx'
import { MapRecords } from './map-records.tsx'
import {
  errorsOfLines,
  type Lines,
  previewedMapping,
  readDraft,
  readMapping,
  writeDraft,
  writeMapping,
} from './mapping.ts'
import { MissingList } from './missing-list.tsx'
import { PreviewCard } from './preview-card.tsx'
import { idleNames, mappingField, sideOf, textOf } from './settings.ts'
import { usePreview } from './use-preview.ts'
import { useWizard } from './wizard.ts'

const path = 'destConnectionConfig.mapping'

/** The fourth step: which column of the source fills which field of the destination, on real records. */
export function MapFields({ connection }: { connection: ConnectionDetails }) {
  const definition = useRead('getConnectorDefinition', { id: connection.dest.connectorId })
  const source = useRead('getConnectorDefinition', { id: connection.src.connectorId })
  return (
    <Loaded query={definition} lines={6}>
      {({ reply }) => (
        <Loaded query={source} lines={6}>
          {(src) => (
            <Mapping connection={connection} side={sideOf(reply, 'Destination')} idle={idleNames(src.reply, reply)} />
          )}
        </Loaded>
      )}
    </Loaded>
  )
}

/** @param idle the names of the sides that cannot move data yet; none: there is a preview */
function Mapping({
  connection,
  side: { fields, records },
  idle,
}: {
  connection: ConnectionDetails
  side: ReturnType<typeof sideOf>
  idle: readonly string[]
}) {
  const { accountId, draft, keys, setText, drop, go, etag, reading } = useWizard()
  const update = useWrite('updateConnection')
  const [failure, setFailure] = useState<unknown>()
  const saved = textOf(connection.destConnectionConfig[mappingField])
  const lines = readDraft(draft.texts[keys.mapping]) ?? readMapping(saved) ?? []
  const setLines = (next: Lines) => setText(keys.mapping, writeMapping(next) === saved ? undefined : writeDraft(next))
  const changed = writeMapping(lines) !== saved
  const reasons = useReasons(connection, undefined)
  const takesMapping = fields.some(({ name }) => name === mappingField)
  const moves = idle.length === 0

  const [looked, setLooked] = useState(() => previewedMapping(lines))
  const raw = usePreview(connection, { unmapped: true }, moves)
  const mapped = usePreview(connection, { destConnectionConfig: { mapping: looked } }, moves)
  const ready = !isNotReady(raw.error)
  // Of a source that cannot be read as it is now, no columns are known.
  const samples = raw.isError ? undefined : raw.data?.reply
  const columns = samples?.columns
  const wrong = errorsOfLines(lines, { noName: say.noName, noColumn: say.noColumnPicked, twice: say.twice })
  const refused = useMemo(() => errorsOf(mapped.error, path), [mapped.error])

  const save = async (ifMatch: string | undefined) => {
    setFailure(undefined)
    try {
      const { [mappingField]: before, ...rest } = connection.destConnectionConfig
      const mapping = writeMapping(lines)
      const destConnectionConfig = mapping === '' ? rest : { ...rest, [mappingField]: mapping }
      await update.mutateAsync({ accountId, id: connection.id, body: { destConnectionConfig }, ifMatch })
      drop(keys.mapping)
      go('review')
    } catch (error) {
      setFailure(error)
    }
  }
  const editor = { lines, onChange: setLines, columns, samples, fieldErrors: refused, wrong }
  return (
    <Stack gap="lg">
      {!moves && (
        <Alert color="gray" icon={<IconInfoCircle aria-hidden />} title={say.noPreview}>
          {say.noPreviewHelp(idle)}
        </Alert>
      )}
      {moves && !ready && <MissingList error={raw.error} connection={connection} title={say.missingForPreview} />}
      {moves && ready && raw.error && <Failure error={raw.error} onRetry={() => void raw.refetch()} />}
      {takesMapping ? (
        <Card withBorder padding="lg">
          <Stack gap="md">
            <div>
              <Title order={2} size="h4">
                {say.mapTitle}
              </Title>
              <Text size="sm" c="dimmed">
                {records.length > 0 ? say.mapRecordsHelp : say.mapColumnsHelp}
              </Text>
            </div>
            {readMapping(saved) === undefined && (
              <Alert color="yellow" icon={<IconInfoCircle aria-hidden />} title={say.brokenMapping}>
                {say.brokenMappingHelp}
              </Alert>
            )}
            {records.length > 0 ? (
              <MapRecords {...editor} records={records} lint={mapped.data?.reply.lint} />
            ) : (
              <MapColumns {...editor} />
            )}
          </Stack>
        </Card>
      ) : (
        <Text size="sm">{say.takesNoMapping(connection.dest.connectorName)}</Text>
      )}
      {moves && ready && !raw.error && (
        <PreviewCard
          query={mapped}
          stale={looked !== previewedMapping(lines)}
          blocked={wrong.size > 0}
          onLook={() => {
            if (looked === previewedMapping(lines)) void mapped.refetch()
            else setLooked(previewedMapping(lines))
          }}
          test={
            <TestButton
              connection={connection}
              settings={changed ? { destConnectionConfig: { [mappingField]: previewedMapping(lines) } } : {}}
              reason={
                mayTransfer(connection.status) ? (wrong.size > 0 ? say.fixFirst : reasons.test) : say.testInactive
              }
            />
          }
        />
      )}
      {isChanged(failure) ? (
        <Changed
          mine={{ [say.mapping]: writeMapping(lines) }}
          readTheirs={async () => {
            const { data } = await reading.refetch({ throwOnError: true })
            const theirs = textOf(data?.reply.destConnectionConfig[mappingField])
            return { version: data?.etag, fields: { [say.mapping]: theirs } }
          }}
          onKeepTheirs={() => {
            drop(keys.mapping)
            setFailure(undefined)
          }}
          onSaveMine={(version) => void save(version)}
        />
      ) : (
        failure !== undefined && <Failure error={failure} />
      )}
      <Group gap="sm">
        <Button variant="default" onClick={() => go('settings')}>
          {say.back}
        </Button>
        <Button
          loading={update.isPending}
          disabled={wrong.size > 0}
          onClick={() => (changed ? void save(etag) : go('review'))}
        >
          {changed ? say.saveAndContinue : say.goToReview}
        </Button>
        {wrong.size > 0 && (
          <Text size="sm" c="dimmed">
            {say.fixFirst}
          </Text>
        )}
      </Group>
    </Stack>
  )
}

const isNotReady = (error: unknown): boolean => error instanceof PenstockError && error.code === 'connection_not_ready'
