import type { RecordField, Records } from '@penstock/connector'
import { type ColumnMeaning, meaningOfField, meaningsOf } from './column-meanings.ts'
import { type ColumnName, foldName, readColumnName, wellKnownNames } from './column-names.ts'
import type { Mapping, MappingEntry } from './read-mapping.ts'

/**
 * Finds the column of a source whose name matches a field of a destination. Only this file decides it, for transfers, previews
 * and proposals. Transfers use the ranks of `transferRanks`, which never change, so that no saved connection starts to send
 * another column. Proposals know more names, and a person sees them before they are saved.
 */

/** A column of a source, and the meaning of its name. */
export type SourceColumn = ColumnName & { readonly name: string; readonly index: number }

/** How well a column fits a field, best first. All candidates of a better rank are assigned first. */
const transferRanks = [
  'same name',
  'same but for case and signs',
  'same but for hashing',
  'synonym',
  'well-known name',
] as const
const proposalRanks = [...transferRanks.slice(0, 4), 'known meaning', 'known meaning of an address'] as const
type Rank = (typeof transferRanks)[number] | (typeof proposalRanks)[number]

/** Columns that fit a field equally well, or a column that fits a field that is never guessed. A person must choose. */
export type Ambiguity = { readonly field: string; readonly columns: readonly SourceColumn[] }
type Assigned = { readonly chosen: ReadonlyMap<string, SourceColumn>; readonly ambiguous: readonly Ambiguity[] }

/** Reads the names of the columns of a source. */
export const readColumns = (names: readonly string[]): SourceColumn[] =>
  names.map((name, index) => ({ ...readColumnName(name), name, index }))

/**
 * Chooses columns as a transfer does, for the fields that its mapping does not name.
 * @param taken columns that the mapping names; each column fills only one field
 */
export const matchForTransfer = (
  open: Records,
  columns: readonly SourceColumn[],
  taken: ReadonlySet<SourceColumn>,
): Assigned => assign(open, columns, taken, transferRanks, fitter)

/** Result of matching the names of columns with a field, for a person who maps it. */
export type ColumnMatch = {
  readonly field: string
  /** The column whose name matches with certainty. */
  readonly column: string | undefined
  /** Possible columns if no name matches with certainty: at most five. */
  readonly candidates: readonly string[]
  /** The column that a transfer uses if the mapping does not name the field. */
  readonly byDefault: string | undefined
}

const candidatesMax = 5

/**
 * Proposes columns for the fields of a destination, in the order of the fields. Omits fields that no name matches. Does not
 * depend on the order of the columns, and never fails.
 * @param mapping has priority in a transfer; it affects only `byDefault`
 */
export function matchColumns(records: Records, names: readonly string[], mapping: Mapping = {}): ColumnMatch[] {
  const columns = readColumns(names)
  const meanings = new Map(
    meaningsOf(columns.map(({ subject }, at) => subjectOf(names[at] as string, subject))).entries(),
  )
  const meaningOf = ({ index }: SourceColumn) => meanings.get(index)
  const wanted = wantedMeanings(records)
  const fits: Fits = (rank, field, definition, chosen) => {
    const meaning = wanted.get(field)
    const isOfAddress = rank === 'known meaning of an address'
    if (rank === 'synonym') {
      const isSynonym = fitter(rank, field, definition)
      return (column) => isSynonym(column) && !saysOther(column, meaningOf(column), meaning)
    }
    if (rank !== 'known meaning' && !isOfAddress) return fitter(rank, field, definition)
    if (meaning === undefined) return isOfAddress ? () => false : fitter('well-known name', field, definition)
    // If two fields have the same content, for example one for digests, the second field does not get a second column.
    const isServed = [...chosen.keys()].some((other) => wanted.get(other) === meaning)
    return (column) => {
      const of = meaningOf(column)
      if (!of || of.isWeak || of.meaning !== meaning || (isServed && column.digest === undefined)) return false
      return (of.role !== 'own') === isOfAddress && takesDigest(definition, column)
    }
  }
  const proposed = assign(records, columns, new Set(), proposalRanks, fits, (one) => resolve(one, meaningOf))
  const chosen = withoutIncompleteGroups(records, proposed.chosen)
  const used = new Set(chosen.values())
  const open = Object.fromEntries(Object.entries(records).filter(([field]) => !Object.hasOwn(mapping, field)))
  const mapped = columns.filter(({ name }) => Object.values(mapping).some((entry) => columnOf(entry) === name))
  const sent = withoutIncompleteGroups(records, matchForTransfer(open, columns, new Set(mapped)).chosen)
  const byMeaning = Map.groupBy(sorted(columns), (column) => meaningOf(column)?.meaning)
  const ambiguous = new Map(proposed.ambiguous.map((one) => [one.field, one.columns]))
  return Object.entries(records).flatMap(([field, definition]): ColumnMatch[] => {
    const column = chosen.get(field)
    const byDefault = sent.get(field)?.name
    if (column) return [{ field, column: column.name, candidates: [], byDefault }]
    const equals = new Set([...[proposed.chosen.get(field) ?? []].flat(), ...(ambiguous.get(field) ?? [])])
    const wantedMeaning = wanted.get(field)
    const alike = (wantedMeaning === undefined ? [] : (byMeaning.get(wantedMeaning) ?? [])).filter((other) =>
      takesDigest(definition, other),
    )
    const candidates = [...new Set([...equals, ...alike])].filter((one) => !used.has(one)).slice(0, candidatesMax)
    if (candidates.length === 0 && byDefault === undefined) return []
    return [{ field, column: undefined, candidates: candidates.map(({ name }) => name), byDefault }]
  })
}

const columnOf = (entry: MappingEntry): string | undefined =>
  typeof entry === 'string' ? entry : entry && 'column' in entry ? entry.column : undefined

/** Names that do not show what the column contains. */
const generalNames: ReadonlySet<string> = new Set(['name', 'id', 'date', 'type', 'status', 'source'])

/** Whether a column that a field's author named speaks of something else in the tables of others. */
const saysOther = ({ folded }: SourceColumn, of: ColumnMeaning | undefined, meaning: string | undefined): boolean =>
  generalNames.has(folded) || Boolean(of && !of.isWeak && meaning !== undefined && of.meaning !== meaning)

/** The name without the mark of hashed values, in its own spelling if there is no mark. */
const subjectOf = (name: string, subject: string): string => (foldName(name) === subject ? name : subject)

/** Creates the test whether a column fits a field at a rank, when some fields already have a column. */
type Fits = (
  rank: Rank,
  field: string,
  definition: RecordField,
  chosen: ReadonlyMap<string, SourceColumn>,
) => (column: SourceColumn) => boolean

/** Assigns to each field the only column that fits it best. A column fills one field. */
function assign(
  records: Records,
  columns: readonly SourceColumn[],
  given: ReadonlySet<SourceColumn>,
  ranks: readonly Rank[],
  fits: Fits,
  choose: (fitting: readonly SourceColumn[]) => SourceColumn | undefined = only,
): Assigned {
  const open = new Map(Object.entries(records))
  // Sorted once, not for each field.
  const byName = sorted(columns)
  const taken = new Set(given)
  const chosen = new Map<string, SourceColumn>()
  const ambiguous: Ambiguity[] = []
  for (const rank of ranks) {
    for (const [field, definition] of open) {
      const fitsField = fits(rank, field, definition, chosen)
      const fitting = byName.filter((column) => !taken.has(column) && fitsField(column))
      if (fitting.length === 0) continue
      open.delete(field)
      const column = definition.addresses && rank !== 'same name' ? undefined : choose(fitting)
      if (!column) ambiguous.push({ field, columns: fitting })
      else {
        chosen.set(field, column)
        taken.add(column)
      }
    }
  }
  return { chosen, ambiguous }
}

const only = (fitting: readonly SourceColumn[]): SourceColumn | undefined =>
  fitting.length === 1 ? fitting[0] : undefined

/** Sorted by name, so that the order of the columns makes no difference. */
const sorted = (columns: readonly SourceColumn[]): SourceColumn[] =>
  [...columns].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))

/**
 * The only column, or the only column with a code if the others contain the same in words. A shipping address is never chosen.
 */
function resolve(
  fitting: readonly SourceColumn[],
  meaningOf: (column: SourceColumn) => ColumnMeaning | undefined,
): SourceColumn | undefined {
  const isShipping = (column: SourceColumn) => meaningOf(column)?.role === 'shipping'
  if (fitting.length === 1) return fitting.find((column) => !isShipping(column))
  const meaning = meaningOf(fitting[0] as SourceColumn)
  const areOfOnePlace = fitting.every((column) => {
    const other = meaningOf(column)
    return other?.meaning === meaning?.meaning && other?.role === meaning?.role && !isShipping(column)
  })
  if (!areOfOnePlace || !['country', 'state', 'currency'].includes(meaning?.meaning ?? '')) return undefined
  const codes = fitting.filter((column) => meaningOf(column)?.isCode)
  return codes.length === 1 && fitting.length === 2 ? codes[0] : undefined
}

/**
 * The meaning of each field: from its own name, or else from its form, or else from its synonyms if no other field has that
 * meaning.
 */
function wantedMeanings(records: Records): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>()
  for (const [field, { normalise }] of Object.entries(records)) {
    const { subject } = readColumnName(field)
    const meaning = meaningOfField(field) ?? meaningOfField(subject) ?? (normalise && meaningOfForm[normalise])
    if (meaning !== undefined) wanted.set(field, meaning)
  }
  for (const [field, { synonyms = [] }] of Object.entries(records)) {
    if (wanted.has(field)) continue
    const meaning = synonyms.map(meaningOfField).find((one) => one !== undefined)
    if (meaning !== undefined && ![...wanted.values()].includes(meaning)) wanted.set(field, meaning)
  }
  return wanted
}

const meaningOfForm: Readonly<Partial<Record<NonNullable<RecordField['normalise']>, string>>> = {
  email: 'email',
  'email-gmail': 'email',
  'email-gmail-com': 'email',
  'email-gmail-dots': 'email',
  'email-plain-local': 'email',
  'email-no-dots-no-tag': 'email',
  'email-alphanumeric': 'email',
  'email-no-signs': 'email',
  'phone-e164': 'phone',
  'phone-digits': 'phone',
  'given-name': 'first name',
  'family-name': 'last name',
  city: 'city',
  'city-ascii': 'city',
  state: 'state',
  'state-ascii': 'state',
  'postal-code': 'postal code',
  'postal-code-national': 'postal code',
  country: 'country',
  'birth-date': 'birth date',
  'birth-year': 'birth year',
  'birth-month': 'birth month',
  'birth-day': 'birth day',
  initial: 'initial',
  gender: 'gender',
  'gender-or-n': 'gender',
}

/** Identifiers that a destination accepts only together are proposed together. */
function withoutIncompleteGroups(
  records: Records,
  chosen: ReadonlyMap<string, SourceColumn>,
): ReadonlyMap<string, SourceColumn> {
  const incomplete = new Set(
    Object.entries(records).flatMap(([field, { together }]) => (together && !chosen.has(field) ? [together] : [])),
  )
  return new Map(
    [...chosen].filter(([field]) => {
      const { together, oneOf, required } = records[field] as RecordField
      return !together || required || oneOf === undefined || !incomplete.has(together)
    }),
  )
}

/** Creates the test whether a column fits a field at a rank. The field is read once for all columns. */
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
    default:
      return () => false
  }
}

/** Whether a field accepts the digest in a column's name: the field accepts such digests, or the name mentions no digest. */
function takesDigest({ hashed = [] }: RecordField, { digest }: SourceColumn): boolean {
  if (digest === undefined) return true
  return digest === 'any' ? hashed.length > 0 : digest !== 'other' && hashed.includes(digest)
}
