import { useEffect, useRef } from 'react'
import type { Lines } from '../mapping/mapping.ts'

/** Moves the focus to the source of a field. */
export const focusField = (name: string): void =>
  document.querySelector<HTMLElement>(`[data-mapper-field="${CSS.escape(name)}"]`)?.focus()

/** A field that is answered moves to another group: the focus goes to the next one that needs the user, or stays with it. */
export function useKeptFocus(lines: Lines): void {
  const before = useRef<{ field: string; needed: boolean } | undefined>(undefined)
  useEffect(() => {
    const note = (event: FocusEvent) => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-mapper-row]') : null
      before.current = row?.dataset.mapperRow
        ? { field: row.dataset.mapperRow, needed: row.dataset.need !== undefined }
        : undefined
    }
    document.addEventListener('focusin', note)
    return () => document.removeEventListener('focusin', note)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each change of the lines
  useEffect(() => {
    const at = before.current
    if (!at || (document.activeElement && document.activeElement !== document.body)) return
    const next = at.needed
      ? document.querySelector<HTMLElement>('[data-mapper-row][data-need] [data-mapper-field]')
      : null
    if (next) next.focus()
    else focusField(at.field)
  }, [lines])
}

const fieldsIn = (root: Element): HTMLElement[] => [...root.querySelectorAll<HTMLElement>('[data-mapper-field]')]

/** Moves the focus to the field before or after one. */
export function step(root: Element, from: string, by: 1 | -1): void {
  const all = fieldsIn(root)
  const at = all.findIndex(({ dataset }) => dataset.mapperField === from)
  all[at + by]?.focus()
}

/** Goes to the next field that needs the user, around the end. */
export function goToNeed(root: Element, by: 1 | -1): void {
  const all = fieldsIn(root)
  const at = all.indexOf(document.activeElement as HTMLElement)
  const needed = all.filter((one) => one.closest('[data-need]'))
  const next =
    by === 1
      ? needed.find((one) => all.indexOf(one) > at)
      : needed.findLast((one) => all.indexOf(one) < (at < 0 ? all.length : at))
  const target = next ?? (by === 1 ? needed[0] : needed.at(-1))
  target?.focus()
}

/** Goes to the next expression that is wrong, around the end, and selects the part that is wrong. */
export function goToProblem(root: Element, by: 1 | -1): void {
  const all = [...root.querySelectorAll<HTMLTextAreaElement>('textarea[data-problem]')]
  const at = all.indexOf(document.activeElement as HTMLTextAreaElement)
  const target = at < 0 ? all.at(by === 1 ? 0 : -1) : all[(at + by + all.length) % all.length]
  const [from = 0, length = 0] = (target?.dataset.problem ?? '').split(' ').map(Number)
  target?.focus()
  target?.setSelectionRange(from, from + length)
}
