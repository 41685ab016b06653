import type { RecordField, Records } from '@penstock/connector'
import { compileExpression } from '@penstock/expressions'
import { meaningsOf } from './column-meanings.ts'
import { conceptOf, foldName, readColumnName } from './column-names.ts'
import { matchColumns } from './match-columns.ts'
import { fieldErrorOf, type Mapping, type MappingEntry, readMapping } from './read-mapping.ts'

/** Wrong expressions for which a similar column is named. */
const hintsMax = 20
/** Columns of the template, multiplied by columns of the source that are compared with them. */
const comparedMax = 500_000

/** An entry of a template that names a column, and the matching column of the source. */
export type TemplateColumn = {
  /** Field of the destination. */
  readonly field: string
  /** The column that the template names. */
  readonly templateColumn: string
  /** The column of the source; null if no column matches. */
  readonly column: string | null
  /** Possible columns of the source if no column matches with certainty: at most five. */
  readonly candidates: readonly string[]
}

/** A template on the columns of a source. */
export type AppliedTemplate = {
  /** The mapping for this source: entries without a column are null, so that nothing is sent for them. */
  readonly mapping: Mapping
  readonly columns: readonly TemplateColumn[]
  /** Entries of the template that do not apply, each with a sentence for users. */
  readonly findings: readonly { readonly field: string; readonly message: string }[]
}

/**
 * Applies a saved mapping to another source. The column names of the mapping are matched with the columns of the source in the
 * same way as field names in a proposal: first the same name, then names that differ in case and punctuation, then names with the
 * same meaning. Never fails.
 * @param records the fields of the destination; absent or empty if it accepts any columns
 * @param text a mapping that was valid when it was saved
 * @param names the columns of the source
 */
export function applyTemplate(records: Records | undefined, text: string, names: readonly string[]): AppliedTemplate {
  const saved = Object.entries(readMapping(text, '').mapping ?? {})
  const findings: { field: string; message: string }[] = []
  const entries = saved.filter(([field, entry]) => {
    const message = records && fieldErrorOf(records, field, entry)
    // The connector may have changed since the template was saved.
    if (message !== undefined) findings.push({ field, message: `the template maps ${field}, which ${message}` })
    return message === undefined
  })
  const wanted = wantedColumns(records ?? {}, entries)
  const found = new Map(matchColumns(wanted, withoutUnlike(wanted, names)).map((match) => [match.field, match]))
  const columns: TemplateColumn[] = []
  let hints = hintsMax
  const mapping = entries.map(([field, entry]): [string, MappingEntry] => {
    const templateColumn = columnOf(entry)
    if (typeof entry === 'object' && entry !== null && 'expression' in entry) {
      const { wrong } = compileExpression(entry.expression, names, undefined, hints > 0)
      if (wrong !== undefined) hints--
      if (wrong !== undefined) findings.push({ field, message: `the expression of ${field} ${wrong}` })
      return [field, wrong === undefined ? entry : null]
    }
    if (templateColumn === undefined) return [field, entry]
    const { column, candidates = [] } = found.get(templateColumn) ?? {}
    columns.push({ field, templateColumn, column: column ?? null, candidates })
    if (column !== undefined) return [field, withColumn(entry, column)]
    const message = `the template maps ${JSON.stringify(templateColumn)}, which this source does not have`
    findings.push({ field, message })
    return [field, null]
  })
  return { mapping: Object.fromEntries(mapping), columns, findings }
}

/**
 * The columns of a template as if they were fields, so that they can be matched by name. A column that fills several fields
 * accepts only the digests that all of these fields accept.
 */
function wantedColumns(records: Records, entries: readonly [string, MappingEntry][]): Records {
  const wanted = new Map<string, RecordField>()
  for (const [field, entry] of entries) {
    const name = columnOf(entry)
    if (name === undefined) continue
    const { normalise, hashed = [] } = (Object.hasOwn(records, field) && records[field]) || {}
    const before = wanted.get(name)
    const both = before ? hashed.filter((digest) => before.hashed?.includes(digest)) : hashed
    const form = before?.normalise ?? normalise
    wanted.set(name, { description: name, required: false, hashed: both, ...(form && { normalise: form }) })
  }
  return Object.fromEntries(wanted)
}

/**
 * The columns of a source that can match a column of the template: columns with a similar name, and columns whose name has a
 * known meaning. Other columns are not compared, so that a wide source takes no longer than a narrow one. If thousands of
 * candidates remain, equal names come first, and the last ones are not compared.
 */
function withoutUnlike(wanted: Records, names: readonly string[]): string[] {
  const alike = new Set(
    Object.keys(wanted).flatMap((name) => {
      const { folded, subject } = readColumnName(name)
      return [name, folded, subject]
    }),
  )
  const read = names.map(readColumnName)
  const meanings = meaningsOf(
    names.map((name, at) => (foldName(name) === read[at]?.subject ? name : (read[at]?.subject ?? name))),
  )
  const like = names.filter((name, at) => {
    const { folded = '', subject = '' } = read[at] ?? {}
    const isAlike = [name, folded, subject].some((one) => one !== '' && alike.has(one))
    return isAlike || meanings[at] !== undefined || conceptOf(subject) !== undefined
  })
  const wantedCount = Object.keys(wanted).length
  if (like.length * wantedCount <= comparedMax) return like
  const isSame = (name: string) => Object.hasOwn(wanted, name)
  const sameFirst = [...like.filter(isSame), ...like.filter((name) => !isSame(name))]
  return sameFirst.slice(0, Math.floor(comparedMax / wantedCount))
}

const columnOf = (entry: MappingEntry): string | undefined =>
  typeof entry === 'string' ? entry : entry && 'column' in entry ? entry.column : undefined

const withColumn = (entry: MappingEntry, column: string): MappingEntry =>
  typeof entry === 'object' && entry !== null && 'column' in entry ? { ...entry, column } : column
