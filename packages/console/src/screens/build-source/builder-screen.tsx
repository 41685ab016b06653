import { Alert, Badge, Kbd, SegmentedControl, Stack, Text } from '@mantine/core'
import { errors } from '@penstock/wire'
import { IconLock } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
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
import { wordsOfValues } from '../connectors/versions.ts'
import { AnswerPanel } from './answer-panel.tsx'
import { AskPanel } from './ask-panel.tsx'
import classes from './build-source.module.css'
import { Panel } from './panel.tsx'
import { Parts } from './parts.tsx'
import { PickPanel } from './pick-panel.tsx'
import { RowsPanel } from './rows-panel.tsx'
import { TextErrorAlert, TextPanel } from './text-panel.tsx'
import type { Builder, OpenedConfiguration } from './use-builder.ts'
import { useKeys } from './use-keys.ts'

const basePath = 'body.secretConfig'

/** The source as a form or as text, beside real answers of the API. */
export function BuilderScreen({
  builder,
  name,
  accountId,
  readAgain,
}: {
  builder: Builder
  /** The name of the configuration. */
  name: string
  accountId: string
  readAgain: () => Promise<OpenedConfiguration>
}) {
  const { fields, values, fieldErrors, changed, editable, stream, textError, isBroken, wrongDefinition } = builder
  const forbidden = useForbidden('configureConnector')
  const [view, setView] = useState<'form' | 'text'>('form')
  const [shown, setShown] = useState(0)
  const hasFieldErrors = Object.keys(fieldErrors).length > 0
  const [part, setPart] = useState<'connection' | 'stream'>(values.url ? 'stream' : 'connection')
  const [theirs, setTheirs] = useState<OpenedConfiguration>()
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
    if (editable && !forbidden) void builder.save()
  }
  useKeys({
    send: () => void builder.ask(),
    save,
    panel: (step) => area.current?.querySelector<HTMLElement>(`[data-step="${step}"]`)?.focus(),
  })
  const showPlace = () => {
    setView('text')
    setShown((times) => times + 1)
  }
  const form = { fields, values, lastUpdated: builder.lastUpdated, fieldErrors }
  const isConnection = part === 'connection'
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
            <ReasonedButton loading={builder.saving} disabled={!editable} reason={forbidden} onClick={save}>
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
          <Failed
            builder={builder}
            accountId={accountId}
            theirs={theirs}
            readTheirs={async () => {
              const now = await readAgain()
              setTheirs(now)
              return now
            }}
          />
          <div className={classes.steps}>
            <Parts
              builder={builder}
              isConnection={isConnection}
              onPick={(picked) => {
                setPart(picked === undefined ? 'connection' : 'stream')
                if (picked !== undefined) builder.select(picked)
              }}
            />
            {isConnection && view === 'form' ? (
              <Panel title={say.connection} className={classes.whole}>
                <FieldForm {...form} only={only} onChange={builder.change} />
              </Panel>
            ) : view === 'text' ? (
              <>
                <TextPanel builder={builder} shown={shown} />
                {stream && <AnswerPanel builder={builder} stream={stream} />}
                {stream && <RowsPanel builder={builder} />}
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
              <>
                <AskPanel key={`ask ${builder.name}`} builder={builder} stream={stream} />
                <AnswerPanel key={`answer ${builder.name}`} builder={builder} stream={stream} />
                <PickPanel key={`pick ${builder.name}`} builder={builder} stream={stream} />
                <RowsPanel key={`rows ${builder.name}`} builder={builder} />
              </>
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
function Failed({
  builder,
  accountId,
  theirs,
  readTheirs,
}: {
  builder: Builder
  accountId: string
  theirs: OpenedConfiguration | undefined
  readTheirs: () => Promise<OpenedConfiguration>
}) {
  const { failure, fields, before, values, versions } = builder
  if (failure === undefined || isOfFields(failure, basePath)) return null
  if (isChanged(failure)) {
    return (
      <Changed
        mine={wordsOfValues(fields, before, values)}
        readTheirs={async () => {
          const now = await readTheirs()
          return { version: now.etag, fields: wordsOfValues(versions.fieldsOf(now)) }
        }}
        onKeepTheirs={() => theirs && builder.begin(theirs)}
        onSaveMine={() => theirs && void versions.saveMine(theirs)}
      />
    )
  }
  return isOfFields(failure, basePath, ofConnection) ? (
    <ConnectionsNamed error={failure} accountId={accountId} />
  ) : (
    <Failure error={failure} />
  )
}
