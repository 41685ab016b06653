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

/** Changed values, before and after. */
export function changesOf({ before, after }: Pick<AuditEvent, 'before' | 'after'>): Change[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...fields].map((field) => ({ field, before: text(before?.[field]), after: text(after?.[field]) }))
}

/** Further details of an event, by name. */
export const detailsOf = ({ details }: Pick<AuditEvent, 'details'>): [string, string][] =>
  Object.entries(details ?? {}).map(([name, value]) => [name, text(value)])

/** Target of an event by its name; undefined if it is not known. */
export function targetOf({ before, after, targetName }: AuditEvent): string | undefined {
  const name = targetName ?? after?.name ?? before?.name ?? after?.email ?? before?.email
  return typeof name === 'string' ? name : undefined
}
