import { useDebouncedCallback } from '@mantine/hooks'
import type { BodyOf, ConnectionDetails, Preview } from '@penstock/wire'
import { createContext, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { readMapping } from '../../mapping/mapping.ts'
import { filterField, mappingField } from '../../settings.ts'

export type Tried = NonNullable<Preview['expressions']>[number]
export type Problem = NonNullable<NonNullable<Preview['mappingErrors']>[number]['place']>

/** The answers of the service about the expressions of the page, and a way to ask again. */
export type Checks = {
  readonly columns: readonly string[] | undefined
  /** Why an expression is wrong; undefined if it is not, and until the service has read this text. @param field its path */
  readonly problemOf: (field: string, text: string) => Problem | undefined
  /** Its values for three rows, or its values before it was changed. */
  readonly triedOf: (field: string) => Tried | undefined
  /** How many expressions of the page have an error, as the service read them last. */
  readonly problems: number
  readonly isReading: boolean
  /** Asks without waiting for a pause. */
  readonly ask: () => void
  /** The connection to preview, if it can be. */
  readonly connection: ConnectionDetails | undefined
}

const nothing: Checks = {
  columns: undefined,
  problemOf: () => undefined,
  triedOf: () => undefined,
  problems: 0,
  isReading: false,
  ask: () => {},
  connection: undefined,
}

export const ChecksContext = createContext<Checks>(nothing)
export const useChecks = (): Checks => useContext(ChecksContext)

/** Paths of expressions, as the service names them. */
export const mappingPath = `destConnectionConfig.${mappingField}`
export const filterPath = `destConnectionConfig.${filterField}`

/** How long nothing is typed before the service is asked. */
const askAfterMs = 600

/** A text that follows another one after a pause, or when it is asked for. */
export function usePaused(text: string): readonly [asked: string, ask: () => void] {
  const [asked, setAsked] = useState(text)
  const latest = useRef(text)
  latest.current = text
  const now = useRef(() => setAsked(latest.current)).current
  const later = useDebouncedCallback(now, askAfterMs)
  useEffect(() => {
    if (text !== asked) later()
  }, [text, asked, later])
  return [asked, now]
}

type Reply = Pick<Preview, 'mappingErrors' | 'expressions'>

/** The checks of the page, by the last answer and the settings that it is about. */
export function useAnswers(
  asked: string,
  answer: Reply | undefined,
  isOfAsked: boolean,
): Pick<Checks, 'problemOf' | 'triedOf' | 'problems'> {
  const last = useRef<{ texts: ReadonlyMap<string, string>; answer: Reply } | undefined>(undefined)
  if (answer && isOfAsked && last.current?.answer !== answer) last.current = { texts: textsIn(asked), answer }
  const { current } = last
  return useMemo(
    () => ({
      problemOf: (field, text) =>
        current?.texts.get(field) === text
          ? current.answer.mappingErrors?.find((one) => one.field === field && one.place)?.place
          : undefined,
      problems: (current?.answer.mappingErrors ?? []).filter(({ place }) => place !== undefined).length,
      triedOf: (field) => current?.answer.expressions?.find((one) => one.field === field),
    }),
    [current],
  )
}

/** The expressions of settings by their paths. */
function textsIn(settings: string): ReadonlyMap<string, string> {
  const { [mappingField]: mapping, [filterField]: filter } = JSON.parse(settings) as NonNullable<
    BodyOf<'previewConnection'>['destConnectionConfig']
  >
  const lines = readMapping(String(mapping ?? '')) ?? []
  return new Map([
    ...lines.flatMap(({ field, entry }): [string, string][] =>
      entry.kind === 'expression' ? [[`${mappingPath}.${field}`, entry.expression]] : [],
    ),
    [filterPath, String(filter ?? '')],
  ])
}
