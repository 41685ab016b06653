import type { AuditEvent } from '@penstock/wire'
import { wordsOf } from '../../components/problems.ts'
import { audit as say } from '../../strings/audit.ts'

export type Change = { readonly field: string; readonly before: string; readonly after: string }

/** An operation in words. The names of most operations are words already. */
export const actionOf = (action: string): string => names[action] ?? wordsOf(action)
const names: Readonly<Record<string, string | undefined>> = say.actions

const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
/** A time in seconds since 1970, with its date. */
export const timeOf = (seconds: number): string => time.format(new Date(seconds * 1000))

const isTimeName = (name: string): boolean => /(?:Time|Until)$/.test(name)

/** A value in words. @param name of the field, which tells times from counts */
function text(name: string, value: unknown): string {
  if (value === undefined || value === null || value === '') return say.empty
  if (typeof value === 'boolean') return value ? say.yes : say.no
  if (typeof value === 'number' && isTimeName(name)) return timeOf(value)
  if (Array.isArray(value)) return value.map((one) => text(name, one)).join(', ') || say.empty
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value)
  return entries.map(([key, one]) => say.pair(wordsOf(key), text(key, one))).join(', ') || say.empty
}

/** Changed values, before and after. */
export function changesOf({ before, after }: Pick<AuditEvent, 'before' | 'after'>): Change[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...fields].map((field) => ({
    field: wordsOf(field),
    before: text(field, before?.[field]),
    after: text(field, after?.[field]),
  }))
}

/** Further details of an event, by name. */
export const detailsOf = ({ details }: Pick<AuditEvent, 'details'>): [string, string][] =>
  Object.entries(details ?? {}).map(([name, value]) => [wordsOf(name), text(name, value)])

/** Target of an event by its name; undefined if it is not known. */
export function targetOf({ before, after, targetName }: AuditEvent): string | undefined {
  const name = targetName ?? after?.name ?? before?.name ?? after?.email ?? before?.email
  return typeof name === 'string' ? name : undefined
}
