import { useMemo, useState } from 'react'
import { isObject } from './answer-json.ts'
import { readText, type TextPath, withEntries, withToggled, withValue } from './definition-text.ts'

/** Settings of a stream or an operation, as the text has them. */
export type PartSettings = Readonly<Record<string, unknown>>

/** Changes one stream or operation of the text. Paths begin in it. */
export type EditPart = {
  readonly set: (path: TextPath, value: unknown) => void
  readonly setEntries: (path: TextPath, entries: readonly (readonly [string, unknown])[]) => void
  readonly toggle: (path: TextPath, value: string) => void
}

/**
 * The streams or operations in the text of a definition, and the one that is edited. A text with errors cannot be changed by a form.
 * @param kind the key of the definition that has them
 */
export function useParts(kind: 'streams' | 'operations', text: string, onText: (text: string) => void) {
  const [selected, select] = useState('')
  const read = useMemo(() => readText(text), [text])
  const parts = useMemo(() => partsIn(read.value, kind), [read, kind])
  const names = Object.keys(parts)
  const name = Object.hasOwn(parts, selected) ? selected : (names[0] ?? '')
  const change = (by: (text: string) => string) => {
    if (!read.textError) onText(by(text))
  }
  const inPart = (path: TextPath): TextPath => [kind, name, ...path]
  const edit: EditPart = {
    set: (path, value) => change((now) => withValue(now, inPart(path), value)),
    setEntries: (path, entries) => change((now) => withEntries(now, inPart(path), entries)),
    toggle: (path, value) => change((now) => withToggled(now, inPart(path), value)),
  }
  return {
    names,
    /** The part that is edited; empty if there is none. */
    name,
    part: parts[name],
    textError: read.textError,
    select,
    edit,
    add: (added: string, settings: PartSettings = { path: '/' }) => {
      change((now) => withValue(now, [kind, added], settings))
      select(added)
    },
    remove: () => edit.set([], undefined),
  }
}

/** The parts of a definition by their names; one that is no object has no settings yet. */
function partsIn(value: unknown, kind: string): Readonly<Record<string, PartSettings>> {
  const parts = isObject(value) ? value[kind] : undefined
  if (!isObject(parts)) return {}
  return Object.fromEntries(Object.entries(parts).map(([name, one]) => [name, isObject(one) ? one : {}]))
}
