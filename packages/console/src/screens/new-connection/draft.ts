import { useCallback, useRef, useState } from 'react'
import type { FormValue, FormValues } from '../../components/fields/form-field.ts'

/**
 * Unsaved input, stored in the tab for each sub-account, so that a user who leaves half-way finds it again. Secrets are
 * typed elsewhere (`configure.tsx`) and are never stored here.
 */
export type Draft = {
  /** The address of the step that was left, as parameters; undefined if nothing has been begun. */
  readonly at?: string
  /** Names, and mappings as text, each by what it belongs to. */
  readonly texts: Readonly<Record<string, string>>
  /** Settings of sides, each by what they belong to; only values that were typed. */
  readonly settings: Readonly<Record<string, FormValues>>
}

const none: Draft = { texts: {}, settings: {} }
const keyOf = (accountId: string) => `penstock.new-connection.${accountId}`

export type DraftStore = {
  readonly draft: Draft
  /** Stores the current step. */
  setAt: (at: string | undefined) => void
  /** @param text undefined: it is saved, or as it was */
  setText: (key: string, text: string | undefined) => void
  setValue: (key: string, name: string, value: FormValue) => void
  /** Deletes drafts after they are saved. */
  drop: (...keys: string[]) => void
  clear: () => void
}

/** The draft of a sub-account. */
export function useDraft(accountId: string): DraftStore {
  const [draft, setDraft] = useState(() => read(accountId))
  const latest = useRef(draft)
  const change = useCallback(
    (next: (before: Draft) => Draft) => {
      const after = next(latest.current)
      if (after === latest.current) return
      latest.current = after
      // Here and now: the page may be left before it is drawn again.
      write(accountId, after)
      setDraft(after)
    },
    [accountId],
  )
  const setAt = useCallback(
    (at: string | undefined) =>
      change((before) => {
        if (before.at === at) return before
        const { at: left, ...rest } = before
        return at === undefined ? rest : { ...rest, at }
      }),
    [change],
  )
  const setText = useCallback(
    (key: string, text: string | undefined) =>
      change((before) => ({
        ...before,
        texts: text === undefined ? without(before.texts, [key]) : { ...before.texts, [key]: text },
      })),
    [change],
  )
  const setValue = useCallback(
    (key: string, name: string, value: FormValue) =>
      change((before) => ({
        ...before,
        settings: { ...before.settings, [key]: { ...before.settings[key], [name]: value } },
      })),
    [change],
  )
  const drop = useCallback(
    (...keys: string[]) =>
      change((before) => ({
        ...before,
        texts: without(before.texts, keys),
        settings: without(before.settings, keys),
      })),
    [change],
  )
  const clear = useCallback(() => change(() => none), [change])
  return { draft, setAt, setText, setValue, drop, clear }
}

const without = <T>(values: Readonly<Record<string, T>>, keys: readonly string[]): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)))

/** Begins the draft of a new connection elsewhere: with its name, and settings of its source. Other input stays. */
export function beginDraft(
  accountId: string,
  sourceId: string,
  { name, settings = {}, configuration }: { name?: string; settings?: FormValues; configuration?: string },
): void {
  const before = read(accountId)
  write(accountId, {
    ...before,
    texts: {
      ...before.texts,
      ...(name !== undefined && { 'name of new': name }),
      ...(configuration !== undefined && { [`source configuration of ${sourceId}`]: configuration }),
    },
    settings: { ...before.settings, [`source of ${sourceId}`]: { ...settings } },
  })
}

function read(accountId: string): Draft {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(accountId)) ?? 'null')
    if (typeof stored !== 'object' || stored === null) return none
    return { ...none, ...(stored as Partial<Draft>) }
  } catch {
    return none
  }
}

function write(accountId: string, draft: Draft): void {
  try {
    const isEmpty = draft.at === undefined && [draft.texts, draft.settings].every((of) => Object.keys(of).length === 0)
    if (isEmpty) sessionStorage.removeItem(keyOf(accountId))
    else sessionStorage.setItem(keyOf(accountId), JSON.stringify(draft))
  } catch {
    // A full storage keeps no draft; what is typed stays on the page.
  }
}
