import type { AuditEvent } from '@penstock/wire'
import { audit as say } from '../../strings/audit.ts'

/** An action in words: `editAccount` is `Edit account`. */
export function actionInWords(action: string): string {
  const words = action.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export type Change = { readonly field: string; readonly before: string; readonly after: string }

const text = (value: unknown): string => {
  if (value === undefined || value === null) return say.empty
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What changed from what to what. */
export function changesOf({ before, after }: Pick<AuditEvent, 'before' | 'after'>): Change[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...fields].map((field) => ({ field, before: text(before?.[field]), after: text(after?.[field]) }))
}

/** What else is known of an event, by its name. */
export const detailsOf = ({ details }: Pick<AuditEvent, 'details'>): [string, string][] =>
  Object.entries(details ?? {}).map(([name, value]) => [name, text(value)])

/** What an event happened to, by its name where that is known. */
export function targetOf({ before, after, targetId }: AuditEvent): string | undefined {
  const name = after?.name ?? before?.name ?? after?.email ?? before?.email
  return typeof name === 'string' ? name : (targetId ?? undefined)
}
