import type { Preview } from '@penstock/wire'
import { limits } from '@penstock/wire/rules'
import { type RowMapping, settingsPath } from './map-rows.ts'
import type { Showing } from './mapping/shorten.ts'
import type { NumberedRows } from './mapping/try-expressions.ts'
import type { SideSecrets } from './side-secrets.ts'

// A preview has no hash key for its filter. A filter that needs the key is not tried.
const noKey = { hashKey: undefined }

/** The values of all valid expressions, and the values of one field in every form. */
export async function tryMapping(
  { plan, options }: RowMapping,
  read: NumberedRows,
  given: { filter: unknown; formsOf: string | undefined; showing: Showing; redact: SideSecrets['redact'] },
): Promise<Pick<Preview, 'expressions' | 'forms'>> {
  const { filter, formsOf, showing, redact } = given
  const { tryExpression, tryForms } = await import('./mapping/mapping.ts')
  const steps = plan.steps.flatMap(({ field, expression }) =>
    expression ? [{ field: `mapping.${field}`, expression }] : [],
  )
  const { expression } = (await import('@penstock/expressions')).compileFilter(
    String(filter ?? ''),
    read.columns,
    noKey,
  )
  const all = expression ? [...steps, { field: 'filter', expression }] : steps
  const safe = (value: string | null) => (value === null ? null : redact(value))
  const expressions = all.slice(0, limits.previewExpressionsMax).map((one) => {
    const tried = tryExpression(`${settingsPath}.${one.field}`, one.expression, read, showing)
    const rows = tried.rows.map((row) => ({ ...row, inputs: row.inputs.map(safe), value: safe(row.value) }))
    return { ...tried, rows }
  })
  const rows = [...read.rows.values()]
  const forms =
    formsOf === undefined ? undefined : tryForms(plan, read.columns, { field: formsOf, rows }, options, showing)
  const shownForms = forms && {
    ...forms,
    values: forms.values.map(redact),
    forms: forms.forms.map((form) => ({ ...form, values: form.values.map(safe) })),
  }
  return { ...(expressions.length > 0 && { expressions }), ...(shownForms && { forms: shownForms }) }
}
