import type { Preview, RecordDefinition, SideDefinition } from '@penstock/wire'
import type { Line, Lines, MappingChoice } from './mapping.ts'

/** The fields of a destination while they are mapped: what fills each, and what is still to be decided. */

export type Matches = NonNullable<Preview['matches']>
type FieldLint = Preview['lint'][number]

/** Why a field needs the user. */
export type Need =
  /** Nothing fills a field that is required. */
  | { readonly kind: 'required' }
  /** Others are filled that cannot be sent without it. */
  | { readonly kind: 'together'; readonly others: readonly string[] }
  /** The source does not have its column. */
  | { readonly kind: 'gone'; readonly column: string }
  /** Its value for all records is not given. */
  | { readonly kind: 'value' }
  /** Its expression is not given. */
  | { readonly kind: 'expression' }
  /** Nobody has said what is created at the platform. */
  | { readonly kind: 'answer' }
  /** The service refuses what fills it. */
  | { readonly kind: 'refused'; readonly message: string }

export type MappedField = {
  readonly record: RecordDefinition
  readonly entry: MappingChoice | undefined
  readonly need: Need | undefined
  /** The name of its column shows that it is meant. */
  readonly isByName: boolean
  /** Columns that may be meant, if nothing fills it. */
  readonly candidates: readonly string[]
  /** Findings of the preview in its column. */
  readonly lint: FieldLint | undefined
}

/** Fields of which one is enough, while none is filled. */
export type OpenGroup = { readonly name: string; readonly fields: readonly MappedField[] }

const noNames: readonly string[] = []

/**
 * The fields that name what the first transfer would otherwise create at the platform, such as an audience. Without one of
 * them in the mapping, a person is asked. None if a setting of the connection names it.
 */
export const creatingFields = (
  creates: SideDefinition['creates'],
  settings: Readonly<Record<string, unknown>>,
): readonly string[] =>
  creates && !creates.settings.some((name) => (settings[name] ?? '') !== '') ? creates.records : noNames

/** A column that is still to be picked fills nothing. */
export const isFilled = (entry: MappingChoice | undefined): boolean =>
  entry !== undefined && entry.kind !== 'empty' && !(entry.kind === 'column' && entry.column === '')

/** Joins what is known of each field, in the order of the definition. */
export function mapFields({
  records,
  lines,
  columns,
  matches,
  lint,
  refused,
  creating = noNames,
}: {
  records: readonly RecordDefinition[]
  lines: Lines
  /** Fields of which a person must say that one is created, or which one; see `creatingFields`. */
  creating?: readonly string[]
  columns: readonly string[] | undefined
  matches: Matches
  lint: readonly FieldLint[]
  /** Messages of the service, by field. */
  refused: Readonly<Record<string, string>>
}): MappedField[] {
  const entries = new Map(lines.map(({ field, entry }) => [field, entry]))
  const known = columns && new Set(columns)
  const byField = new Map(matches.map((match) => [match.field, match]))
  const linted = new Map(lint.map((one) => [one.field, one]))
  const groups = Map.groupBy(
    records.filter(({ together }) => together !== undefined),
    ({ together }) => together,
  )
  const isAnswered = creating.some((name) => {
    const entry = entries.get(name)
    return entry && (entry.kind === 'empty' || isFilled(entry))
  })
  return records.map((record) => {
    const entry = entries.get(record.name)
    const match = byField.get(record.name)
    const column = entry?.kind === 'column' ? entry.column : undefined
    const filler = entry?.kind === 'expression' ? entry.expression : column
    const found = linted.get(record.name)
    return {
      record,
      entry,
      need:
        !isAnswered && record.name === creating[0]
          ? { kind: 'answer' }
          : needOf(record, entry, {
              known,
              partners: (groups.get(record.together) ?? []).filter(({ name }) => isFilled(entries.get(name))),
              message: refused[record.name],
            }),
      isByName: column !== undefined && match?.column === column,
      candidates:
        isFilled(entry) && !(column !== undefined && known && !known.has(column))
          ? []
          : match?.column
            ? [match.column]
            : (match?.candidates ?? []),
      lint: filler !== undefined && found?.column === filler ? found : undefined,
    }
  })
}

function needOf(
  { name, required }: RecordDefinition,
  entry: MappingChoice | undefined,
  {
    known,
    partners,
    message,
  }: {
    known: ReadonlySet<string> | undefined
    partners: readonly RecordDefinition[]
    message: string | undefined
  },
): Need | undefined {
  if (!isFilled(entry)) {
    if (required) return { kind: 'required' }
    const others = partners.flatMap((partner) => (partner.name === name ? [] : [partner.name]))
    return others.length > 0 ? { kind: 'together', others } : undefined
  }
  if (entry?.kind === 'column' && known && !known.has(entry.column)) return { kind: 'gone', column: entry.column }
  if (entry?.kind === 'value' && entry.value === '') return { kind: 'value' }
  if (entry?.kind === 'expression' && entry.expression.trim() === '') return { kind: 'expression' }
  return message === undefined ? undefined : { kind: 'refused', message }
}

/** Groups of which a record fills at least one field, and in which nothing is filled. */
export function openGroups(fields: readonly MappedField[]): OpenGroup[] {
  const groups = Map.groupBy(
    fields.filter(({ record }) => record.oneOf !== undefined && !record.required),
    ({ record }) => record.oneOf ?? '',
  )
  return [...groups].flatMap(([name, all]) => (all.some(({ entry }) => isFilled(entry)) ? [] : [{ name, fields: all }]))
}

export type FieldGroup = 'need' | 'suggested' | 'matched' | 'open'

/** Where a field is shown. */
export const groupOf = ({ need, entry, candidates }: MappedField): FieldGroup =>
  need ? 'need' : isFilled(entry) ? 'matched' : candidates.length > 0 && entry?.kind !== 'empty' ? 'suggested' : 'open'

/** Columns that fill no field. */
export function unusedColumns(columns: readonly string[], lines: Lines): string[] {
  const used = new Set(lines.flatMap(({ entry }) => (entry.kind === 'column' ? [entry.column] : [])))
  return [...new Set(columns)].filter((column) => column !== '' && !used.has(column))
}

/**
 * The lines with which the editor begins: what is saved, then what a transfer does with the rest, or for a connection that was
 * never set up what the names of columns propose. People are added until someone decides otherwise.
 * @param isNew nothing is saved, and nothing was sent yet
 */
export function firstLines(
  stored: Lines,
  {
    records,
    columns,
    matches,
    isNew,
    creating = noNames,
  }: {
    creating?: readonly string[]
    records: readonly RecordDefinition[]
    columns: readonly string[] | undefined
    matches: Matches
    isNew: boolean
  },
): Lines {
  const saved = columns ? stored.map((line) => withActualColumn(line, columns)) : stored
  const named = new Set(saved.map(({ field }) => field))
  const used = new Set(saved.flatMap(({ entry }) => (entry.kind === 'column' ? [entry.column] : [])))
  const proposed = matches.flatMap(({ field, column, byDefault }): Lines => {
    const of = isNew ? column : byDefault
    return of === null || named.has(field) || used.has(of) ? [] : [{ field, entry: { kind: 'column', column: of } }]
  })
  // Transfers of any other connection create it without being asked.
  const isCreated = !isNew && ![...saved, ...proposed].some(({ field }) => creating.includes(field))
  const created = (isCreated ? creating : []).map((field): Line => ({ field, entry: { kind: 'empty' } }))
  const all = [...saved, ...proposed, ...created]
  const action = records.find(({ name, values }) => name === 'action' && values?.includes('add'))
  if (!action || named.has('action') || all.some(({ field }) => field === 'action')) return all
  return [...all, { field: 'action', entry: { kind: 'value', value: 'add' } }]
}

/** The line with the column as the source spells it: a mapping can differ from it in case and signs. */
function withActualColumn(line: Line, columns: readonly string[]): Line {
  const { field, entry } = line
  if (entry.kind !== 'column' || columns.includes(entry.column)) return line
  const wanted = fold(entry.column)
  const [column, ...others] = columns.filter((one) => fold(one) === wanted)
  return column === undefined || others.length > 0 ? line : { field, entry: { ...entry, column } }
}

const fold = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')

/** Whether a search finds a field. */
export const matchesText = ({ record, entry }: MappedField, text: string, label: string): boolean => {
  const column = entry?.kind === 'column' ? entry.column : entry?.kind === 'expression' ? entry.expression : ''
  return [label, record.name, record.description, column].some((part) => part.toLowerCase().includes(text))
}

/** How much is left to decide: fields that need the user, and groups in which nothing is filled. */
export const leftToDecide = (fields: readonly MappedField[]): number =>
  fields.filter(({ need }) => need !== undefined).length + openGroups(fields).length
