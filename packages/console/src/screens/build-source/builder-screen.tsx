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
import { buildSource as say } from '../../strings/build-source.ts'
import { components } from '../../strings/components.ts'
import { ConnectionsNamed, ofConnection } from '../connectors/connections-named.tsx'
import type { ConnectorOfAccount } from '../connectors/of-account.ts'
import { AnswerPanel } from './answer-panel.tsx'
import { AskPanel } from './ask-panel.tsx'
import classes from './build-source.module.css'
import { textErrorIn } from './definition-text.ts'
import { Panel } from './panel.tsx'
import { Parts } from './parts.tsx'
import { PickPanel } from './pick-panel.tsx'
import { RowsPanel } from './rows-panel.tsx'
import { TextErrorAlert, TextPanel } from './text-panel.tsx'
import { useAsk } from './use-ask.ts'
import { useKeys } from './use-keys.ts'
import { basePath, type OpenedConfiguration, type SourceSettings, useSettings } from './use-settings.ts'
import { useStreams } from './use-streams.ts'

/** The source as a form or as text, next to real answers of the API. */
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
  const streams = useStreams(text, setText)
  const { stream, edit } = streams
  const { ask, asking, asked } = useAsk(of, streams.name, text, settings)
  const isBroken = streams.textError !== undefined
  const textError = streams.textError ?? (wrongDefinition === undefined ? undefined : textErrorIn(wrongDefinition))
  const changed = Object.keys(settings.changes).length > 0
  const forbidden = useForbidden('configureConnector')
  const [view, setView] = useState<'form' | 'text'>('form')
  const [shown, setShown] = useState(0)
  const hasFieldErrors = Object.keys(fieldErrors).length > 0
  const [part, setPart] = useState<'connection' | 'stream'>(values.url ? 'stream' : 'connection')
  const area = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (hasFieldErrors) setPart('connection')
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
    send: () => void ask(),
    save,
    panel: (step) => area.current?.querySelector<HTMLElement>(`[data-step="${step}"]`)?.focus(),
  })
  const showPlace = () => {
    setView('text')
    setShown((times) => times + 1)
  }
  const form = { fields, values, lastUpdated: settings.lastUpdated, fieldErrors }
  const isConnection = part === 'connection'
  const answer = stream && (
    <AnswerPanel stream={stream} asked={asked} asking={asking} edit={edit} onNextPage={(page) => void ask(page)} />
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
              names={streams.names}
              picked={isConnection ? undefined : streams.name}
              disabled={isBroken}
              onPick={(picked) => {
                setPart(picked === undefined ? 'connection' : 'stream')
                if (picked !== undefined) streams.select(picked)
              }}
              onAdd={(added) => {
                streams.add(added)
                setPart('stream')
              }}
            />
            {isConnection && view === 'form' ? (
              <Panel title={say.connection} className={classes.whole}>
                <FieldForm {...form} only={only} onChange={change} />
              </Panel>
            ) : view === 'text' ? (
              <>
                <TextPanel text={text} textError={textError} shown={shown} onChange={setText} />
                {stream && answer}
                {stream && <RowsPanel asked={asked} text={text} />}
              </>
            ) : isBroken || !stream ? (
              <Panel title={say.streams} className={classes.whole}>
                {isBroken ? (
                  <Empty title={say.wrongText} help={say.wrongTextHelp} />
                ) : (
                  <Empty title={say.noStreams} help={say.noStreamsHelp} />
                )}
              </Panel>
            ) : (
              <Fragment key={streams.name}>
                <AskPanel
                  name={streams.name}
                  stream={stream}
                  url={String(values.url ?? '')}
                  others={streams.names.filter((one) => one !== streams.name)}
                  edit={edit}
                  onSend={() => void ask()}
                  onDelete={streams.remove}
                />
                {answer}
                <PickPanel stream={stream} reply={asked?.reply} edit={edit} />
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
