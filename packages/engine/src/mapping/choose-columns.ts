import type { RecordField, Records } from '@penstock/connector'
import type { FieldError } from '@penstock/wire'
import { fieldMapper } from './cell-mapper.ts'
import { type ColumnName, foldName, readColumnName, wellKnownNames } from './column-names.ts'
import type { LocalForm } from './local-forms.ts'
import { fieldErrorOf, localFormOf, type Mapping } from './read-mapping.ts'
import { list, noSuchColumn } from './wording.ts'

/** Source of one column of the destination. */
export type MappingStep = {
  /** The destination's name of it. */
  readonly field: string
  /** Its definition; absent where the destination takes any column. */
  readonly definition: RecordField | undefined
  /** The source's column, by name and by its index in a row; absent where `value` is set. */
  readonly column?: { readonly name: string; readonly index: number }
  /** How its values are written, if the mapping says it. */
  readonly local?: LocalForm
  /** One value for all rows. */
  readonly value?: string
}

/** How well a column fits a field, best first; every candidate of a better rank is served before. */
const ranks = [
  'same name',
  'same but for case and signs',
  'same but for hashing',
  'synonym',
  'well-known name',
] as const
type Rank = (typeof ranks)[number]

type SourceColumn = ColumnName & { readonly name: string; readonly index: number }

/**
 * Finds the column of a source for each field of a record: what the mapping says, then by name. A column fills one field,
 * unless the mapping says otherwise: the one it fits best, and of equals the first. Two columns that fit a field equally
 * are an error, since it is not known which one was meant.
 */
export function chooseColumns(
  records: Records,
  names: readonly string[],
  mapping: Mapping,
  path: string,
): { steps: MappingStep[]; fieldErrors: FieldError[] } {
  const fieldErrors: FieldError[] = []
  const columns = names.map((name, index): SourceColumn => ({ ...readColumnName(name), name, index }))
  const steps = new Map<string, MappingStep>()
  const taken = new Set<SourceColumn>()

  for (const [field, entry] of Object.entries(mapping)) {
    const definition = Object.hasOwn(records, field) ? records[field] : undefined
    const fieldError = (message: string) => fieldErrors.push({ field: `${path}.${field}`, message })
    const message = fieldErrorOf(records, field, entry)
    if (!definition || message !== undefined) fieldError(message ?? '')
    else if (entry !== null && typeof entry === 'object' && 'value' in entry) {
      const { map, messageOf } = fieldMapper(definition)
      if (map && map(entry.value, undefined) === undefined) fieldError(messageOf(entry.value))
      else steps.set(field, { field, definition, value: entry.value })
    } else if (entry !== null) {
      const name = typeof entry === 'object' ? entry.column : entry
      const column = findNamed(columns, name)
      if (!column) fieldError(noSuchColumn(name, names))
      else {
        const from = { name: column.name, index: column.index }
        steps.set(field, { field, definition, column: from, ...localFormOf(entry) })
        taken.add(column)
      }
    }
  }

  const open = new Map(Object.entries(records).filter(([field]) => !Object.hasOwn(mapping, field)))
  for (const rank of ranks) {
    for (const [field, definition] of open) {
      const fitsField = fitter(rank, field, definition)
      const fitting = columns.filter((column) => !taken.has(column) && fitsField(column))
      const [column] = fitting
      if (!column) continue
      open.delete(field)
      if (fitting.length === 1) {
        steps.set(field, { field, definition, column: { name: column.name, index: column.index } })
        taken.add(column)
      } else {
        const [first = '', second = ''] = fitting.map(({ name }) => name)
        fieldErrors.push({
          field: `${path}.${field}`,
          message: `could be filled by ${fitting.length > 2 ? 'any of ' : ''}${list(fitting.map(({ name }) => name))}: choose one, {${JSON.stringify(field)}: ${JSON.stringify(first)}} or {${JSON.stringify(field)}: ${JSON.stringify(second)}}`,
        })
      }
    }
  }
  return { steps: Object.keys(records).flatMap((field) => steps.get(field) ?? []), fieldErrors }
}

/** The column of exactly this name, else the only one that differs from it in case and signs alone. */
function findNamed(columns: readonly SourceColumn[], name: string): SourceColumn | undefined {
  const exact = columns.find((column) => column.name === name)
  if (exact) return exact
  const wanted = foldName(name)
  const folded = columns.filter((column) => column.folded === wanted)
  return folded.length === 1 ? folded[0] : undefined
}

/** Makes the test whether a column fits a field at a rank; the field is read once, however many columns there are. */
function fitter(rank: Rank, field: string, definition: RecordField): (column: SourceColumn) => boolean {
  const wanted = readColumnName(field)
  switch (rank) {
    case 'same name':
      return ({ name }) => name === field
    case 'same but for case and signs':
      return ({ folded }) => folded !== '' && folded === wanted.folded
    case 'same but for hashing':
      return (column) => column.subject !== '' && column.subject === wanted.subject && takesDigest(definition, column)
    case 'synonym': {
      const synonyms = new Set((definition.synonyms ?? []).map(foldName).filter((folded) => folded !== ''))
      return (column) =>
        synonyms.has(column.folded) || (synonyms.has(column.subject) && takesDigest(definition, column))
    }
    case 'well-known name': {
      const names = wellKnownNames(field, definition)
      return (column) => takesDigest(definition, column) && names.has(column.subject)
    }
  }
}

/** Whether a field can take what a column's name says of hashing: it takes such digests, or there are none. */
function takesDigest({ hashed = [] }: RecordField, { digest }: SourceColumn): boolean {
  if (digest === undefined) return true
  return digest === 'any' ? hashed.length > 0 : digest !== 'other' && hashed.includes(digest)
}
