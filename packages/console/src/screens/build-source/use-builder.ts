import type { ResultOf } from '@penstock/client'
import type { FieldDefinition, SourceAnswer } from '@penstock/wire'
import { useMemo, useRef, useState } from 'react'
import { readNow, useWrite } from '../../api/queries.ts'
import { errorsOf } from '../../components/fields/field-errors.ts'
import {
  changesOf,
  errorsOfForms,
  type FormField,
  type FormValue,
  type FormValues,
  valuesOf,
  withDefinitions,
} from '../../components/fields/form-field.ts'
import { notifyDone } from '../../components/notify.ts'
import { buildSource as say } from '../../strings/build-source.ts'
import { type ConnectorOfAccount, parametersOf } from '../connectors/of-account.ts'
import { baseOf } from '../connectors/versions.ts'
import { isObject } from './answer-json.ts'
import { readText, type TextPath, textErrorIn, withEntries, withToggled, withValue } from './definition-text.ts'

const basePath = 'body.secretConfig'

/** A configuration with its version. */
export type OpenedConfiguration = ResultOf<'getConnectorConfiguration'>

/** An answer, and for what it was. */
export type AskedAnswer = {
  readonly stream: string
  /** The text of the definition. */
  readonly text: string
  /** The number of the page, from 1. */
  readonly page: number
  readonly reply: SourceAnswer
}

/** Settings of a stream, as the text has them. */
export type StreamSettings = Readonly<Record<string, unknown>>

/** Changes one stream of the text. Paths begin in the stream. */
export type EditStream = {
  readonly set: (path: TextPath, value: unknown) => void
  readonly setEntries: (path: TextPath, entries: readonly (readonly [string, unknown])[]) => void
  readonly toggle: (path: TextPath, value: string) => void
}

/** All that the screen holds: the values of the configuration, the streams in its text, and the last answer. */
export type Builder = ReturnType<typeof useBuilder>

/** @param configuration the saved one, with which the screen begins */
export function useBuilder(
  of: ConnectorOfAccount,
  configuration: OpenedConfiguration,
  definitions: readonly FieldDefinition[],
  readAgain: () => Promise<OpenedConfiguration>,
) {
  const [opened, setOpened] = useState(configuration)
  const fields = useMemo(() => fieldsOf(opened, definitions), [opened, definitions])
  const [before, setBefore] = useState(() => valuesOf(fields))
  const [values, setValues] = useState<FormValues>(before)
  const [failure, setFailure] = useState<unknown>()
  const [judged, setJudged] = useState<Readonly<Record<string, string>>>({})
  const [selected, setSelected] = useState('')
  const [asked, setAsked] = useState<AskedAnswer>()
  const [asking, setAsking] = useState(false)
  const sending = useRef<AbortController>(undefined)
  const save = useWrite('configureConnector')

  const text = String(values.definition ?? '')
  const read = useMemo(() => readText(text), [text])
  const streams = useMemo(() => streamsIn(read.value), [read])
  const name = Object.hasOwn(streams, selected) ? selected : (Object.keys(streams)[0] ?? '')
  const changes = changesOf(before, values, fields)
  const { definition: wrongDefinition, ...fieldErrors } = { ...judged, ...errorsOf(failure, basePath) }
  const change = (field: string, value: FormValue) => {
    setJudged({})
    setFailure(undefined)
    setValues((now) => ({ ...now, [field]: value }))
  }
  const edit = (by: (text: string) => string) => {
    // A text with errors cannot be changed by a form.
    if (!read.textError) change('definition', by(text))
  }
  const ofStream = (path: TextPath): TextPath => ['streams', name, ...path]
  const editStream: EditStream = {
    set: (path, value) => edit((now) => withValue(now, ofStream(path), value)),
    setEntries: (path, entries) => edit((now) => withEntries(now, ofStream(path), entries)),
    toggle: (path, value) => edit((now) => withToggled(now, ofStream(path), value)),
  }
  /** Whether nothing that is typed is wrong already. */
  const isJudgedRight = (): boolean => {
    const wrong = errorsOfForms(fields, values)
    setJudged(wrong)
    setFailure(undefined)
    return Object.keys(wrong).length === 0
  }

  const ask = async (page?: string) => {
    if (!isJudgedRight() || name === '') return
    sending.current?.abort()
    const now = new AbortController()
    sending.current = now
    setAsking(true)
    try {
      const body = {
        settings: { stream: name },
        ...(Object.keys(changes).length > 0 ? { secretConfig: changes } : {}),
        ...(page === undefined ? {} : { page }),
      }
      const { reply } = await readNow('askSource', { ...parametersOf(of), body, signal: now.signal })
      if (now.signal.aborted) return
      setAsked((last) => ({
        stream: name,
        text,
        reply,
        page: page === undefined || last === undefined ? 1 : last.page + 1,
      }))
    } catch (error) {
      if (!now.signal.aborted) setFailure(error)
    } finally {
      if (sending.current === now) setAsking(false)
    }
  }
  const store = async (version: string | undefined, secretConfig: ReturnType<typeof changesOf>): Promise<boolean> => {
    if (!isJudgedRight()) return false
    try {
      const { configurationId } = of
      const body = { secretConfig, ...(configurationId === undefined ? {} : { configurationId }) }
      await save.mutateAsync({ accountId: of.accountId, id: of.connectorId, body, ifMatch: version })
      begin(await readAgain())
      notifyDone(say.saved)
      return true
    } catch (error) {
      setFailure(error)
      return false
    }
  }
  /** Begins with a version of the configuration. */
  const begin = (version: OpenedConfiguration) => {
    const saved = valuesOf(fieldsOf(version, definitions))
    setOpened(version)
    setBefore(saved)
    setValues(saved)
    setFailure(undefined)
  }

  return {
    fields,
    before,
    values,
    change,
    changed: Object.keys(changes).length > 0,
    lastUpdated: opened.reply.lastUpdated,
    editable: opened.reply.editable,
    text,
    setText: (next: string) => change('definition', next),
    textError: read.textError ?? (wrongDefinition === undefined ? undefined : textErrorIn(wrongDefinition)),
    /** The refusal of the text by the service, also if it names no place in it. */
    wrongDefinition,
    isBroken: read.textError !== undefined,
    streams,
    name,
    stream: streams[name],
    select: setSelected,
    addStream: (added: string) => {
      edit((now) => withValue(now, ['streams', added], { path: '/' }))
      setSelected(added)
    },
    deleteStream: () => edit((now) => withValue(now, ['streams', name], undefined)),
    editStream,
    fieldErrors,
    failure,
    ask,
    asking,
    asked: asked?.stream === name ? asked : undefined,
    save: () => store(opened.etag, changes),
    saving: save.isPending,
    begin,
    /** For the comparison with a version that someone else saved. */
    versions: {
      fieldsOf: (version: OpenedConfiguration) => fieldsOf(version, definitions),
      saveMine: (theirs: OpenedConfiguration) =>
        store(theirs.etag, changesOf(baseOf(before, fieldsOf(theirs, definitions)), values, fields)),
    },
  }
}

const fieldsOf = ({ reply }: OpenedConfiguration, definitions: readonly FieldDefinition[]): FormField[] =>
  withDefinitions(reply.secretConfig[0]?.configuration ?? [], definitions)

/** The streams of a definition by their names; one that is no object has no settings yet. */
function streamsIn(value: unknown): Readonly<Record<string, StreamSettings>> {
  const streams = isObject(value) ? value.streams : undefined
  if (!isObject(streams)) return {}
  return Object.fromEntries(Object.entries(streams).map(([name, one]) => [name, isObject(one) ? one : {}]))
}
