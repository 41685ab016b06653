import { Alert, Badge, Kbd, SegmentedControl, Stack, Text } from '@mantine/core'
import { errors, type FieldDefinition } from '@penstock/wire'
import { IconLock } from '@tabler/icons-react'
import { Fragment, useEffect, useRef, useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { Changed, isChanged } from '../../components/changed.tsx'
import { Failure } from '../../components/failure.tsx'
import { isOfFields } from '../../components/fields/field-errors.ts'
import { FieldForm } from '../../components/fields/field-form.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { modifier } from '../../shell/hot-keys.ts'
import { buildOperation as sayOperation } from '../../strings/build-operation.ts'
import { buildSource as say } from '../../strings/build-source.ts'
import { components } from '../../strings/components.ts'
import { ConnectionsNamed, ofConnection } from '../connectors/connections-named.tsx'
import type { ConnectorOfAccount } from '../connectors/of-account.ts'
import { AnswerPanel } from './answer-panel.tsx'
import { AskPanel } from './ask-panel.tsx'
import classes from './build-source.module.css'
import { textErrorIn } from './definition-text.ts'
import { columnsOf, OperationColumns } from './operation-columns.tsx'
import { OperationPanel } from './operation-panel.tsx'
import { Panel } from './panel.tsx'
import { Parts, type PickedKind } from './parts.tsx'
import { PickPanel } from './pick-panel.tsx'
import { ResultPanel } from './result-panel.tsx'
import { RowsPanel } from './rows-panel.tsx'
import { TextErrorAlert, TextPanel } from './text-panel.tsx'
import { TryPanel } from './try-panel.tsx'
import { useAsk } from './use-ask.ts'
import { useKeys } from './use-keys.ts'
import { useParts } from './use-parts.ts'
import { basePath, type OpenedConfiguration, type SourceSettings, useSettings } from './use-settings.ts'
import { useTry } from './use-try.ts'

/** The definition of an API as a form or as text, next to real answers of the API. */
export function BuilderScreen({
  of,
  name,
  configuration,
  definitions,
  readAgain,
}: {
  of: ConnectorOfAccount
  /** The name of the configuration. */
  name: string
  configuration: OpenedConfiguration
  definitions: readonly FieldDefinition[]
  readAgain: () => Promise<OpenedConfiguration>
}) {
  const settings = useSettings(of, configuration, definitions, readAgain)
  const { fields, values, fieldErrors, editable, wrongDefinition, change } = settings
  const text = String(values.definition ?? '')
  const setText = (next: string) => change('definition', next)
  const streams = useParts('streams', text, setText)
  const operations = useParts('operations', text, setText)
  const { part: stream, edit } = streams
  const operation = operations.part
  const columns = Object.keys(columnsOf(operation ?? {}))
  const { ask, asking, asked } = useAsk(of, streams.name, text, settings)
  const trial = useTry(of, operations.name, columns, text, settings)
  const isBroken = streams.textError !== undefined
  const textError = streams.textError ?? (wrongDefinition === undefined ? undefined : textErrorIn(wrongDefinition))
  const changed = Object.keys(settings.changes).length > 0
  const forbidden = useForbidden('configureConnector')
  const [view, setView] = useState<'form' | 'text'>('form')
  const [shown, setShown] = useState(0)
  const hasFieldErrors = Object.keys(fieldErrors).length > 0
  const [kind, setKind] = useState<PickedKind>(
    !values.url ? 'connection' : stream || !operation ? 'streams' : 'operations',
  )
  const area = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (hasFieldErrors) setKind('connection')
  }, [hasFieldErrors])
  useEffect(() => {
    if (!changed) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [changed])
  const save = () => {
    if (editable && !forbidden) void settings.save()
  }
  useKeys({
    send: () => void (kind === 'operations' ? trial.send() : ask()),
    save,
    panel: (step) => area.current?.querySelector<HTMLElement>(`[data-step="${step}"]`)?.focus(),
  })
  const showPlace = () => {
    setView('text')
    setShown((times) => times + 1)
  }
  const form = { fields, values, lastUpdated: settings.lastUpdated, fieldErrors }
  const isConnection = kind === 'connection'
  const parts = kind === 'operations' ? operations : streams
  const answer = stream && (
    <AnswerPanel stream={stream} asked={asked} asking={asking} edit={edit} onNextPage={(page) => void ask(page)} />
  )
  const tries = operation && (
    <TryPanel
      key={`try ${operations.name}`}
      columns={columns}
      parameters={Array.isArray(operation.parameters) ? operation.parameters.map(String) : []}
      text={text}
      trial={trial}
    />
  )
  const only = new Set(fields.map((field) => field.name).filter((one) => one !== 'definition'))
  return (
    <div ref={area}>
      <Page
        title={say.title}
        help={say.help(name)}
        actions={
          <>
            {changed && (
              <Badge variant="dot" color="yellow" fw={500}>
                {say.unsaved}
              </Badge>
            )}
            <SegmentedControl
              aria-label={say.view}
              value={view}
              data={[
                { value: 'form', label: say.form },
                { value: 'text', label: say.text },
              ]}
              onChange={(next) => setView(next === 'text' ? 'text' : 'form')}
            />
            <ReasonedButton loading={settings.saving} disabled={!editable} reason={forbidden} onClick={save}>
              {components.save}
            </ReasonedButton>
          </>
        }
      >
        <Stack gap="md">
          {!editable && (
            <Alert color="gray" icon={<IconLock aria-hidden />}>
              {errors.not_editable.message}
            </Alert>
          )}
          {textError ? (
            <TextErrorAlert textError={textError} onShow={showPlace} />
          ) : (
            wrongDefinition !== undefined && (
              <Alert color="red" role="alert">{`${say.definition} ${wrongDefinition}.`}</Alert>
            )
          )}
          <Failed settings={settings} accountId={of.accountId} />
          <div className={classes.steps}>
            <Parts
              names={{ streams: streams.names, operations: operations.names }}
              picked={{ kind, name: parts.name }}
              disabled={isBroken}
              onPick={(picked, named) => {
                setKind(picked)
                if (picked === 'streams') streams.select(named)
                if (picked === 'operations') operations.select(named)
              }}
              onAdd={(added, named) => {
                setKind(added)
                if (added === 'streams') streams.add(named)
                else operations.add(named)
              }}
              onImport={({ name: named, operation: settingsOf, values: suggested }) => {
                setKind('operations')
                operations.add(named, settingsOf)
                // Typed and saved values stay.
                const isFree = ['', 'none', undefined].includes(String(values.authentication ?? ''))
                const { url, ...signIn } = suggested
                if (url && !values.url) change('url', url)
                if (isFree) for (const [key, value] of Object.entries(signIn)) change(key, value)
              }}
            />
            {isConnection && view === 'form' ? (
              <Panel title={say.connection} className={classes.whole}>
                <FieldForm {...form} only={only} onChange={change} />
              </Panel>
            ) : view === 'text' ? (
              <>
                <TextPanel text={text} textError={textError} shown={shown} onChange={setText} />
                {kind === 'operations' ? tries : answer}
                {kind !== 'operations' && stream && <RowsPanel asked={asked} text={text} />}
              </>
            ) : isBroken || !parts.part ? (
              <Panel title={kind === 'operations' ? sayOperation.operations : say.streams} className={classes.whole}>
                {isBroken ? (
                  <Empty title={say.wrongText} help={say.wrongTextHelp} />
                ) : kind === 'operations' ? (
                  <Empty title={sayOperation.noOperations} help={sayOperation.noOperationsHelp} />
                ) : (
                  <Empty title={say.noStreams} help={say.noStreamsHelp} />
                )}
              </Panel>
            ) : kind === 'operations' ? (
              <Fragment key={`operation ${operations.name}`}>
                <OperationPanel
                  name={operations.name}
                  operation={parts.part}
                  url={String(values.url ?? '')}
                  edit={operations.edit}
                  onDelete={operations.remove}
                />
                <OperationColumns operation={parts.part} edit={operations.edit} />
                <ResultPanel operation={parts.part} columns={columns} edit={operations.edit} />
                {tries}
              </Fragment>
            ) : (
              <Fragment key={streams.name}>
                <AskPanel
                  name={streams.name}
                  stream={parts.part}
                  url={String(values.url ?? '')}
                  others={streams.names.filter((one) => one !== streams.name)}
                  edit={edit}
                  onSend={() => void ask()}
                  onDelete={streams.remove}
                />
                {answer}
                <PickPanel stream={parts.part} reply={asked?.reply} edit={edit} />
                <RowsPanel asked={asked} text={text} />
              </Fragment>
            )}
          </div>
          <Text component="div" size="xs" c="dimmed" visibleFrom="sm" role="note" aria-label={say.keyboard}>
            <Kbd size="xs">{modifier}</Kbd> <Kbd size="xs">Enter</Kbd> {say.shortcuts.send} · <Kbd size="xs">Alt</Kbd>{' '}
            <Kbd size="xs">1</Kbd> – <Kbd size="xs">4</Kbd> {say.shortcuts.panels} · <Kbd size="xs">{modifier}</Kbd>{' '}
            <Kbd size="xs">S</Kbd> {say.shortcuts.save}
          </Text>
        </Stack>
      </Page>
    </div>
  )
}

/** Why a request could not be sent, or the source could not be saved. Errors of fields are at the fields. */
function Failed({ settings: { failure, versions }, accountId }: { settings: SourceSettings; accountId: string }) {
  if (failure === undefined || isOfFields(failure, basePath)) return null
  if (isChanged(failure)) return <Changed {...versions} />
  return isOfFields(failure, basePath, ofConnection) ? (
    <ConnectionsNamed error={failure} accountId={accountId} />
  ) : (
    <Failure error={failure} />
  )
}
