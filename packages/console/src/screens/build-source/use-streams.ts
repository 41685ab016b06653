import { useMemo, useState } from 'react'
import { isObject } from './answer-json.ts'
import { readText, type TextPath, withEntries, withToggled, withValue } from './definition-text.ts'

/** Settings of a stream, as the text has them. */
export type StreamSettings = Readonly<Record<string, unknown>>

/** Changes one stream of the text. Paths begin in the stream. */
export type EditStream = {
  readonly set: (path: TextPath, value: unknown) => void
  readonly setEntries: (path: TextPath, entries: readonly (readonly [string, unknown])[]) => void
  readonly toggle: (path: TextPath, value: string) => void
}

/** The streams in the text of a definition, and the one that is edited. A text with errors cannot be changed by a form. */
export function useStreams(text: string, onText: (text: string) => void) {
  const [selected, select] = useState('')
  const read = useMemo(() => readText(text), [text])
  const streams = useMemo(() => streamsIn(read.value), [read])
  const names = Object.keys(streams)
  const name = Object.hasOwn(streams, selected) ? selected : (names[0] ?? '')
  const change = (by: (text: string) => string) => {
    if (!read.textError) onText(by(text))
  }
  const ofStream = (path: TextPath): TextPath => ['streams', name, ...path]
  const edit: EditStream = {
    set: (path, value) => change((now) => withValue(now, ofStream(path), value)),
    setEntries: (path, entries) => change((now) => withEntries(now, ofStream(path), entries)),
    toggle: (path, value) => change((now) => withToggled(now, ofStream(path), value)),
  }
  return {
    names,
    /** The stream that is edited; empty if there is none. */
    name,
    stream: streams[name],
    textError: read.textError,
    select,
    edit,
    add: (added: string) => {
      change((now) => withValue(now, ['streams', added], { path: '/' }))
      select(added)
    },
    remove: () => edit.set([], undefined),
  }
}

/** The streams of a definition by their names; one that is no object has no settings yet. */
function streamsIn(value: unknown): Readonly<Record<string, StreamSettings>> {
  const streams = isObject(value) ? value.streams : undefined
  if (!isObject(streams)) return {}
  return Object.fromEntries(Object.entries(streams).map(([name, one]) => [name, isObject(one) ? one : {}]))
}
