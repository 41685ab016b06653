import type { RecordField, Records } from '@penstock/connector'
import { compileExpression, type Expression } from '@penstock/expressions'
import type { FieldError } from '@penstock/wire'
import { fieldMapper } from './cell-mapper.ts'
import { foldName } from './column-names.ts'
import { matchForTransfer, readColumns, type SourceColumn } from './match-columns.ts'
import { type ColumnReading, fieldErrorOf, type Mapping, readingOf } from './read-mapping.ts'
import { list, noSuchColumn } from './wording.ts'

/** Source of one column of the destination. */
export type MappingStep = ColumnReading & {
  /** The destination's name of it. */
  readonly field: string
  /** Its definition; absent if the destination accepts any column. */
  readonly definition: RecordField | undefined
  /** The source's column, by its name and its index in a row; absent if `value` or `expression` is set. */
  readonly column?: { readonly name: string; readonly index: number }
  /** One value for all rows. */
  readonly value?: string
  /** Computes a value for each row. */
  readonly expression?: Expression
}

/** These destinations define for each field how it is hashed, so they have no key. */
const noKey = { hashKey: undefined }

/**
 * Finds the column of a source for each field of a record: first by the mapping, then by name. A column fills only one field,
 * unless the mapping uses it more often: the field that it fits best, and the first of equally good fields. Two columns that fit
 * a field equally well are an error, because either could be the right one.
 */
export function chooseColumns(
  records: Records,
  names: readonly string[],
  mapping: Mapping,
  path: string,
): { steps: MappingStep[]; fieldErrors: FieldError[] } {
  const fieldErrors: FieldError[] = []
  const columns = readColumns(names)
  const steps = new Map<string, MappingStep>()
  const taken = new Set<SourceColumn>()

  for (const [field, entry] of Object.entries(mapping)) {
    const definition = Object.hasOwn(records, field) ? records[field] : undefined
    const fieldError = (message: string, place?: FieldError['place']) =>
      fieldErrors.push({ field: `${path}.${field}`, message, ...(place && { place }) })
    const message = fieldErrorOf(records, field, entry)
    if (!definition || message !== undefined) fieldError(message ?? '')
    else if (entry !== null && typeof entry === 'object' && 'value' in entry) {
      const { map, messageOf } = fieldMapper(definition)
      if (map && map(entry.value, undefined) === undefined) fieldError(messageOf(entry.value))
      else steps.set(field, { field, definition, value: entry.value })
    } else if (entry !== null && typeof entry === 'object' && 'expression' in entry) {
      const { expression, wrong, problem } = compileExpression(entry.expression, names, noKey)
      const reading = readingOf(entry)
      const refused = wrong === undefined ? wrongAnswer(definition, reading) : `expression ${wrong}`
      if (refused !== undefined) fieldError(refused, problem)
      else if (expression) steps.set(field, { field, definition, expression, ...reading })
    } else if (entry !== null) {
      const name = typeof entry === 'object' ? entry.column : entry
      const column = findNamed(columns, name)
      if (!column) fieldError(noSuchColumn(name, names))
      else {
        const from = { name: column.name, index: column.index }
        const reading = readingOf(entry)
        const wrong = wrongAnswer(definition, reading)
        if (wrong !== undefined) fieldError(wrong)
        else steps.set(field, { field, definition, column: from, ...reading })
        taken.add(column)
      }
    }
  }

  const open = Object.fromEntries(Object.entries(records).filter(([field]) => !Object.hasOwn(mapping, field)))
  const { chosen, ambiguous } = matchForTransfer(open, columns, taken)
  for (const [field, { name, index }] of chosen) {
    steps.set(field, { field, definition: records[field], column: { name, index } })
  }
  for (const { field, columns: fitting } of ambiguous) {
    fieldErrors.push({ field: `${path}.${field}`, message: questionOf(field, fitting, records[field]?.addresses) })
  }
  return { steps: Object.keys(records).flatMap((field) => steps.get(field) ?? []), fieldErrors }
}

/** A question for the person: which of the columns fills a field, or whether the only column does. */
function questionOf(field: string, columns: readonly SourceColumn[], addresses = false): string {
  const names = columns.map(({ name }) => name)
  const entryOf = (name: string | null = null) => `{${JSON.stringify(field)}: ${JSON.stringify(name)}}`
  const why = addresses ? ', and says what is created or changed at the platform' : ''
  const nothing = addresses ? `, or ${entryOf()} for no column` : ''
  const asked = `could be filled by ${names.length > 2 ? 'any of ' : ''}${list(names)}${why}`
  return `${asked}: choose one, ${names.slice(0, 2).map(entryOf).join(' or ')}${nothing}`
}

/** Why the field does not accept a value that the mapping defines as a replacement or default. */
function wrongAnswer(definition: RecordField, { values = {}, default: fallback }: ColumnReading): string | undefined {
  const { map, messageOf } = fieldMapper(definition)
  const given = [...Object.values(values), ...(fallback === undefined ? [] : [fallback])].filter((one) => one !== null)
  const wrong = map && given.find((value) => map(value, undefined) === undefined)
  return wrong && `${messageOf(wrong)}: ${JSON.stringify(wrong)} is not`
}

/** The column with exactly this name, or the only column whose name differs only in case and punctuation. */
function findNamed(columns: readonly SourceColumn[], name: string): SourceColumn | undefined {
  const exact = columns.find((column) => column.name === name)
  if (exact) return exact
  const wanted = foldName(name)
  const folded = columns.filter((column) => column.folded === wanted)
  return folded.length === 1 ? folded[0] : undefined
}
