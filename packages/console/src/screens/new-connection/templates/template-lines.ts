import type { AppliedMappingTemplate } from '@penstock/wire'
import { isFilled } from '../mapping/mapped-fields.ts'
import type { Line, Lines, MappingChoice } from '../mapping/mapping.ts'
import { readMapping } from '../mapping/mapping.ts'

/** A template on the columns of a source, as lines of the editor. */

/** A field that a template changes. */
export type TemplateChange = {
  readonly field: string
  readonly before: MappingChoice | undefined
  readonly after: MappingChoice | undefined
  /** The column that the template names, if the source calls it otherwise. */
  readonly templateColumn: string | undefined
}

/** An entry that a template leaves open. */
export type TemplateFinding = AppliedMappingTemplate['findings'][number] & {
  /** The column that the source does not have; undefined if the destination does not take the entry. */
  readonly templateColumn: string | undefined
  readonly candidates: readonly string[]
}

/** The findings with the columns that they are about. */
export const findingsOf = ({ findings, columns }: AppliedMappingTemplate): TemplateFinding[] =>
  findings.map((finding) => {
    const of = columns.find(({ field, column }) => field === finding.field && column === null)
    return { ...finding, templateColumn: of?.templateColumn, candidates: of?.candidates ?? [] }
  })

/**
 * The lines after a template is applied. Of a destination with fields of its own, fields that the template does not name stay as they are,
 * and fields without a column stay empty. Of one that takes any columns, the lines are those of the template, and a line without a column
 * is left open: to leave out all lines would send every column.
 */
export function applyLines(current: Lines, applied: AppliedMappingTemplate, hasRecords: boolean): Lines {
  const lines = readMapping(applied.mapping) ?? []
  if (!hasRecords) {
    const missing = new Set(findingsOf(applied).flatMap(({ field, templateColumn }) => (templateColumn ? [field] : [])))
    return lines.map((line) => (missing.has(line.field) ? openLine(line) : line))
  }
  const byField = new Map(lines.map((line) => [line.field, line]))
  const named = new Set(current.map(({ field }) => field))
  return [...current.map((line) => byField.get(line.field) ?? line), ...lines.filter(({ field }) => !named.has(field))]
}

const openLine = ({ field }: Line): Line => ({ field, entry: { kind: 'column', column: '' } })

/** The fields that differ, in the order of the new lines, then fields that are gone. */
export function changesBetween(before: Lines, after: Lines, applied: AppliedMappingTemplate): TemplateChange[] {
  const [was, is] = [before, after].map((lines) => new Map(lines.map(({ field, entry }) => [field, entry])))
  const columns = new Map(applied.columns.map((column) => [column.field, column]))
  const fields = new Set([...after, ...before].map(({ field }) => field))
  return [...fields].flatMap((field) => {
    const [old, now] = [was?.get(field), is?.get(field)]
    if (sameChoice(old, now)) return []
    const { column, templateColumn } = columns.get(field) ?? {}
    return [
      {
        field,
        before: old,
        after: now,
        templateColumn: column === templateColumn || !column ? undefined : templateColumn,
      },
    ]
  })
}

/** Whether both fill a field alike; a field that is left empty is filled by nothing. */
function sameChoice(a: MappingChoice | undefined, b: MappingChoice | undefined): boolean {
  if (!isFilled(a) || !isFilled(b)) return isFilled(a) === isFilled(b)
  const sorted = (choice: object | undefined) => JSON.stringify(Object.entries(choice ?? {}).sort())
  return sorted(a) === sorted(b)
}

/** The lines that fill something with one value for all records. */
export const valueLines = (lines: Lines): { field: string; value: string }[] =>
  lines.flatMap(({ field, entry }) =>
    entry.kind === 'value' && entry.value !== '' ? [{ field, value: entry.value }] : [],
  )

/** A template as it was saved, for a source whose columns are not known. */
export const asSaved = (mapping: string): AppliedMappingTemplate => ({ mapping, columns: [], findings: [], losses: [] })
