import { Alert, Button, Card, Group, Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type ConnectionDetails, mayTransfer, type Preview } from '@penstock/wire'
import { IconInfoCircle } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useMemo, useState } from 'react'
import { useWrite } from '../../../api/queries.ts'
import { viewOfPage as view } from '../../../api/view.ts'
import { Changed, isChanged } from '../../../components/changed.tsx'
import { Failure } from '../../../components/failure.tsx'
import { errorsOf } from '../../../components/fields/field-errors.ts'
import { Lines as SkeletonLines } from '../../../components/loaded.tsx'
import { Section } from '../../../components/section.tsx'
import { connectionSet as saySet } from '../../../strings/connection-set.ts'
import { mapper as sayMapper } from '../../../strings/mapper.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { readings as sayReadings } from '../../../strings/readings.ts'
import { TestButton } from '../../connection/test-transfer.tsx'
import { useReasons } from '../../connection/use-connection.ts'
import { BothDefinitions } from '../both-definitions.tsx'
import { isQuestion, ReadColumns } from '../created/column-readings.tsx'
import { CreatedColumns } from '../created/created-columns.tsx'
import { choiceIn, sampledIn, withReading } from '../created/readings.ts'
import { writeTypes } from '../created/types.ts'
import { useColumnTypes } from '../created/use-column-types.ts'
import { creatingFields, firstLines, leftToDecide, type Matches, mapFields } from '../mapping/mapped-fields.ts'
import {
  completeLines,
  errorsOfLines,
  type Lines,
  readDraft,
  readMapping,
  writeDraft,
  writeMapping,
} from '../mapping/mapping.ts'
import { MissingList } from '../missing-list.tsx'
import { PreviewCard } from '../preview/preview-card.tsx'
import { usePreview } from '../preview/use-preview.ts'
import { filterField, idleNames, mappingField, sideOf, textOf, typesField } from '../settings.ts'
import type { TemplateTarget } from '../templates/shared.ts'
import { MappingTemplates } from '../templates/templates-menu.tsx'
import { useWizard } from '../wizard.ts'
import { ChecksContext, filterPath, mappingPath, useAnswers, usePaused } from './expression/checks.ts'
import { ExpressionEditor } from './expression/expression-editor.tsx'
import { focusField, goToProblem } from './focus.ts'
import { MapColumns } from './map-columns.tsx'
import { Mapper } from './mapper.tsx'

const noMatches: Matches = []
const noLint: Preview['lint'] = []
const noTypes: string[] = []
const noneWrong: ReturnType<typeof errorsOfLines> = new Map()

/** The fourth step: which column of the source fills which field of the destination, on real records. */
export function MapFields({ connection }: { connection: ConnectionDetails }) {
  return (
    <BothDefinitions src={connection.src.connectorId} dest={connection.dest.connectorId}>
      {({ src, dest }) => (
        <Mapping connection={connection} side={sideOf(dest, 'Destination')} idle={idleNames(src, dest)} />
      )}
    </BothDefinitions>
  )
}

/** @param idle the names of the sides that cannot move data yet; none: there is a preview */
function Mapping({
  connection,
  side: { fields, records, creates, columnTypes = noTypes },
  idle,
}: {
  connection: ConnectionDetails
  side: ReturnType<typeof sideOf>
  idle: readonly string[]
}) {
  const { accountId, draft, keys, setText, drop, go, goMapped, hasNext, etag, reading } = useWizard()
  const update = useWrite('updateConnection')
  const [failure, setFailure] = useState<unknown>()
  const saved = textOf(connection.destConnectionConfig[mappingField])
  const savedLines = useMemo(() => readMapping(saved), [saved])
  const takesMapping = fields.some(({ name }) => name === mappingField)
  const hasRecords = records.length > 0
  const { destConnectionConfig } = connection
  const creating = useMemo(() => creatingFields(creates, destConnectionConfig), [creates, destConnectionConfig])
  const moves = idle.length === 0
  const raw = usePreview(connection, { unmapped: true, view }, moves)
  const ready = !isNotReady(raw.error)
  // Of a source that cannot be read as it is now, no columns are known.
  const samples = raw.isError ? undefined : raw.data?.reply
  const columns = samples?.columns
  const settled = !moves || raw.isSuccess || raw.isError
  const matches = samples?.matches ?? noMatches
  const isNew = connection.status === 'In-progress' && savedLines?.length === 0
  const typed = useColumnTypes(connection, columnTypes, { samples, isNew })
  const { proposed } = typed
  const first = useMemo(() => {
    if (hasRecords) return firstLines(savedLines ?? [], { records, columns, matches, isNew, creating })
    return proposed.length > 0 ? proposed : (savedLines ?? [])
  }, [hasRecords, savedLines, records, columns, matches, isNew, creating, proposed])
  const lines = readDraft(draft.texts[keys.mapping]) ?? first
  const textFor = (of: Lines) =>
    writeMapping(
      hasRecords && columns
        ? completeLines(
            of,
            records.map(({ name }) => name),
          )
        : of,
    )
  const text = textFor(lines)
  // Without a draft, proposals come back.
  const setLines = (next: Lines) =>
    setText(keys.mapping, textFor(next) === saved && proposed.length === 0 ? undefined : writeDraft(next))
  const savedFilter = textOf(connection.destConnectionConfig[filterField])
  const filter = draft.texts[keys.filter] ?? savedFilter
  const delivered = lines.length > 0 ? lines.map(({ field }) => field) : columns
  const types = columnTypes.length > 0 ? writeTypes(typed.chosen, delivered) : ''
  const changed = takesMapping && settled && (text !== saved || filter !== savedFilter || types !== typed.saved)
  const reasons = useReasons(connection, undefined)

  // One that was removed must not be taken from what is saved.
  const previewed = JSON.stringify({
    [mappingField]: text || '{}',
    ...((filter || savedFilter) && { [filterField]: filter.trim() ? filter : 'true' }),
    ...((types || typed.saved) && { [typesField]: types || '{}' }),
  })
  const [asked, ask] = usePaused(previewed)
  const isChecked = hasRecords || filter !== '' || lines.some(({ entry }) => entry.kind === 'expression')
  const canRead = moves && settled && !raw.isError
  const mapping = usePreview(
    connection,
    { destConnectionConfig: JSON.parse(asked), partial: true, view },
    canRead && isChecked,
    { keep: true },
  )
  const isReading = mapping.isFetching || asked !== previewed
  const answers = useAnswers(asked, mapping.data?.reply, !mapping.isPlaceholderData)
  const checks = useMemo(
    () => ({ ...answers, columns, isReading, ask, connection: canRead ? connection : undefined }),
    [answers, columns, isReading, ask, canRead, connection],
  )
  const errors = mapping.data?.reply.mappingErrors
  const refusedFields = useMemo(
    () =>
      Object.fromEntries(
        (errors ?? []).flatMap(({ field, message }) =>
          field.startsWith(`${mappingPath}.`) ? [[field.slice(mappingPath.length + 1), message]] : [],
        ),
      ),
    [errors],
  )
  const decided = useMemo(
    () =>
      hasRecords ? mapFields({ records, lines, columns, matches, lint: [], refused: refusedFields, creating }) : [],
    [hasRecords, records, lines, columns, matches, refusedFields, creating],
  )
  const left = leftToDecide(decided)
  const unanswered = decided.find(({ record, need }) => need && creating.includes(record.name))

  const [looked, setLooked] = useState<string>()
  // The first preview starts as soon as nothing is left to decide.
  useEffect(() => {
    if (looked === undefined && canRead && left === 0) setLooked(previewed)
  }, [looked, canRead, left, previewed])
  const mapped = usePreview(
    connection,
    { destConnectionConfig: JSON.parse(looked ?? '{}'), view },
    moves && looked !== undefined,
  )
  // A table that exists has types, and reads these values as they are.
  const createsTable = typed.creates && (!mapped.data || mapped.data.reply.createdColumns !== undefined)
  const readings = typed.readings.filter(
    ({ choices }) => createsTable || Object.keys(choices[0]?.reading ?? {}).length > 0,
  )
  const choiceOf = (of: (typeof readings)[number]) => choiceIn({ lines, types: typed.chosen }, of)
  const openTypes = readings.filter((one) => isQuestion(one) && choiceOf(one) === undefined).length
  const wrong = hasRecords
    ? noneWrong
    : errorsOfLines(lines, {
        noName: say.noName,
        noColumn: say.noColumnPicked,
        noExpression: say.noExpression,
        twice: say.twice,
      })
  const refused = useMemo(
    () => ({ ...refusedFields, ...errorsOf(mapped.error, mappingPath) }),
    [refusedFields, mapped.error],
  )
  const filterError = (errors ?? []).find(({ field, place }) => field === filterPath && !place)?.message

  const save = async (ifMatch: string | undefined) => {
    setFailure(undefined)
    try {
      const own = columnTypes.length > 0 ? [mappingField, filterField, typesField] : [mappingField, filterField]
      const rest = Object.entries(connection.destConnectionConfig).filter(([name]) => !own.includes(name))
      const destConnectionConfig = {
        ...Object.fromEntries(rest),
        ...(types && { [typesField]: types }),
        ...(text && { [mappingField]: text }),
        ...(filter.trim() && { [filterField]: filter.trim() }),
      }
      await update.mutateAsync({ accountId, id: connection.id, body: { destConnectionConfig }, ifMatch })
      drop(keys.mapping, keys.filter, keys.types)
      goMapped()
    } catch (error) {
      setFailure(error)
    }
  }
  const blocked = wrong.size > 0 ? say.fixFirst : left > 0 ? sayMapper.needLeft(left) : undefined
  const target: TemplateTarget = {
    accountId,
    srcConnectorId: connection.src.connectorId,
    destConnectorId: connection.dest.connectorId,
    sourceName: connection.src.connectorName,
    destinationName: connection.dest.connectorName,
    hasRecords,
    columns,
    lines,
    textFor,
  }
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== 'F8') return
    event.preventDefault()
    goToProblem(event.currentTarget, event.shiftKey ? -1 : 1)
  }
  const testReason = mayTransfer(connection.status) ? (blocked ?? reasons.test) : say.testInactive
  return (
    <ChecksContext value={checks}>
      <Stack gap="lg" onKeyDown={press}>
        {!moves && (
          <Alert color="gray" icon={<IconInfoCircle aria-hidden />} title={say.noPreview}>
            {say.noPreviewHelp(idle)}
          </Alert>
        )}
        {moves && !ready && <MissingList error={raw.error} connection={connection} title={say.missingForPreview} />}
        {moves && ready && raw.error && <Failure error={raw.error} onRetry={() => void raw.refetch()} />}
        {!takesMapping ? (
          <Text size="sm">{say.takesNoMapping(connection.dest.connectorName)}</Text>
        ) : (
          <>
            {savedLines === undefined && (
              <Alert color="yellow" icon={<IconInfoCircle aria-hidden />} title={say.brokenMapping}>
                {say.brokenMappingHelp}
              </Alert>
            )}
            {settled && (
              <MappingTemplates
                target={target}
                invalid={wrong.size > 0 ? say.fixFirst : undefined}
                onChange={setLines}
              />
            )}
            {hasRecords && !settled && <SkeletonLines lines={8} />}
            {hasRecords && settled && (
              <section aria-label={sayMapper.title}>
                <Mapper
                  records={records}
                  lines={lines}
                  columns={columns}
                  samples={samples}
                  matches={matches}
                  lint={mapping.data?.reply.lint ?? noLint}
                  isReading={isReading}
                  refused={refusedFields}
                  creates={creates}
                  creating={creating}
                  onChange={setLines}
                />
              </section>
            )}
            {!hasRecords && settled && (
              <ReadColumns
                readings={readings}
                sampled={sampledIn(samples)}
                creates={createsTable}
                choiceOf={choiceOf}
                onChoose={(column, choice) => {
                  const next = withReading({ lines, types: typed.chosen }, columns ?? [], column, choice)
                  setLines(next.lines)
                  typed.choose(next.types)
                }}
              />
            )}
            {!hasRecords && (
              <Section title={say.mapTitle} help={say.mapColumnsHelp}>
                {/* A choice before the columns are known would begin with none of them. */}
                {settled ? (
                  <MapColumns
                    lines={lines}
                    onChange={setLines}
                    columns={columns}
                    samples={samples}
                    fieldErrors={refused}
                    wrong={wrong}
                    foldsRead={readings.length > 0}
                  />
                ) : (
                  <SkeletonLines lines={8} />
                )}
              </Section>
            )}
          </>
        )}
        {takesMapping && (
          <Card withBorder padding="lg" component="section" aria-label={say.filterTitle}>
            <ExpressionEditor
              label={say.filterTitle}
              path={filterPath}
              countsMet
              description={say.filterHelp}
              placeholder={say.filterPlaceholder}
              text={filter}
              error={filterError && sayMapper.refused(say.filter, filterError)}
              onChange={(next) => setText(keys.filter, next === savedFilter ? undefined : next)}
            />
          </Card>
        )}
        {columnTypes.length > 0 && mapped.data && (
          <CreatedColumns
            preview={mapped.data.reply}
            samples={samples}
            lines={lines}
            types={columnTypes}
            chosen={typed.chosen}
            onChange={typed.choose}
          />
        )}
        {moves && ready && !raw.error && settled && (
          <PreviewCard
            query={mapped}
            waits={looked === undefined && left > 0 ? sayMapper.previewFirst(left) : undefined}
            stale={looked !== undefined && looked !== previewed}
            blocked={wrong.size > 0 || left > 0}
            hasLint={!hasRecords}
            onLook={() => {
              if (looked === previewed) void mapped.refetch()
              else setLooked(previewed)
            }}
            test={
              <TestButton
                connection={connection}
                settings={changed ? { destConnectionConfig: JSON.parse(previewed) } : {}}
                reason={testReason}
              />
            }
          />
        )}
        {isChanged(failure) ? (
          <Changed
            mine={{ [say.mapping]: text, [say.filter]: filter }}
            readTheirs={async () => {
              const { data } = await reading.refetch({ throwOnError: true })
              const theirs = textOf(data?.reply.destConnectionConfig[mappingField])
              const theirFilter = textOf(data?.reply.destConnectionConfig[filterField])
              return { version: data?.etag, fields: { [say.mapping]: theirs, [say.filter]: theirFilter } }
            }}
            onKeepTheirs={() => {
              drop(keys.mapping, keys.filter, keys.types)
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
            disabled={wrong.size > 0 || !settled}
            onClick={() => {
              // Saved without an answer, it would be created.
              if (unanswered) focusField(unanswered.record.name)
              else if (changed) void save(etag)
              else {
                drop(keys.mapping, keys.filter, keys.types)
                goMapped()
              }
            }}
          >
            {changed ? say.saveAndContinue : hasNext ? saySet.nextOne : say.goToReview}
          </Button>
          {(blocked !== undefined || openTypes > 0) && (
            <Text size="sm" c="dimmed">
              {blocked ?? sayReadings.left(openTypes)}
            </Text>
          )}
        </Group>
      </Stack>
    </ChecksContext>
  )
}

const isNotReady = (error: unknown): boolean => error instanceof PenstockError && error.code === 'connection_not_ready'
