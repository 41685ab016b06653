import type { AuditEvent } from '@penstock/wire'
import { wordsOf } from '../../components/problems.ts'
import { audit as say } from '../../strings/audit.ts'

export type Change = { readonly field: string; readonly before: string; readonly after: string }

const text = (value: unknown): string => {
  if (value === undefined || value === null) return say.empty
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Changed values, before and after. */
export function changesOf({ before, after }: Pick<AuditEvent, 'before' | 'after'>): Change[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...fields].map((field) => ({
    field: wordsOf(field),
    before: text(before?.[field]),
    after: text(after?.[field]),
  }))
}

/** Further details of an event, by name. */
export const detailsOf = ({ details }: Pick<AuditEvent, 'details'>): [string, string][] =>
  Object.entries(details ?? {}).map(([name, value]) => [wordsOf(name), text(value)])

/** Target of an event by its name; undefined if it is not known. */
export function targetOf({ before, after, targetName }: AuditEvent): string | undefined {
  const name = targetName ?? after?.name ?? before?.name ?? after?.email ?? before?.email
  return typeof name === 'string' ? name : undefined
}
