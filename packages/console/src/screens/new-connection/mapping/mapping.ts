import { type Digest, digests, type Normalisation, normalisations } from '@penstock/wire'

/**
 * The mapping while it is edited: fields of the destination, in order, each with what fills it. It is saved as the text of
 * a JSON object, in which a column's name stands for the column as it is.
 */

/** How numbers and times of a column are written, what single values stand for, and the value of empty ones. */
export type ColumnReading = {
  readonly numbers?: 'comma' | 'point'
  /** The unit next to the numbers, which is not sent. */
  readonly unit?: string
  readonly dates?: 'DMY' | 'MDY' | 'YMD'
  readonly timezone?: string
  readonly values?: Readonly<Record<string, string | null>>
  readonly default?: string
}

type ChoiceForm = ColumnReading & {
  /** A form and a digest: only where the destination takes any columns. */
  readonly normalise?: Normalisation
  readonly hash?: Digest
}
export type ColumnChoice = ChoiceForm & { readonly kind: 'column'; readonly column: string }
export type ExpressionChoice = ChoiceForm & { readonly kind: 'expression'; readonly expression: string }

export type MappingChoice =
  /** A column of the source. */
  | ColumnChoice
  /** A value that an expression makes of the columns. */
  | ExpressionChoice
  /** One value for all records. */
  | { readonly kind: 'value'; readonly value: string }
  /** Stays empty, though a column is called like it. */
  | { readonly kind: 'empty' }
export type Line = { readonly field: string; readonly entry: MappingChoice }
export type Lines = readonly Line[]

/** Reads what is saved. Undefined if it is no mapping; the service says what is wrong with it. */
export function readMapping(text: string): Lines | undefined {
  if (text.trim() === '') return []
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return undefined
    const lines = Object.entries(read).map(([field, entry]) => ({ field, entry: readEntry(entry) }))
    return lines.every((line): line is Line => line.entry !== undefined) ? lines : undefined
  } catch {
    return undefined
  }
}

function readEntry(entry: unknown): MappingChoice | undefined {
  if (entry === null) return { kind: 'empty' }
  if (typeof entry === 'string') return { kind: 'column', column: entry }
  if (typeof entry !== 'object') return undefined
  if ('value' in entry && typeof entry.value === 'string') return { kind: 'value', value: entry.value }
  const { column, expression, normalise, hash, ...rest } = entry as Record<string, unknown>
  const form = normalisations.find((one) => one === normalise)
  const digest = digests.find((one) => one === hash)
  const of =
    typeof column === 'string'
      ? ({ kind: 'column', column } as const)
      : typeof expression === 'string' && ({ kind: 'expression', expression } as const)
  if (!of) return undefined
  return {
    ...of,
    ...(form ? { normalise: form } : {}),
    ...(digest ? { hash: digest } : {}),
    // The service has checked them.
    ...(Object.fromEntries(Object.entries(rest).filter(([key]) => readingKeys.includes(key))) as ColumnReading),
  }
}

const readingKeys: readonly string[] = ['numbers', 'unit', 'dates', 'timezone', 'values', 'default']

/** The text to save; empty if there is nothing to say, and names alone decide. */
export function writeMapping(lines: Lines): string {
  if (lines.length === 0) return ''
  return JSON.stringify(Object.fromEntries(lines.map(({ field, entry }) => [field.trim(), writeEntry(entry)])))
}

function writeEntry(entry: MappingChoice): unknown {
  switch (entry.kind) {
    case 'empty':
      return null
    case 'value':
      return { value: entry.value }
    case 'column': {
      const { kind, ...rest } = entry
      return Object.keys(rest).length > 1 ? rest : entry.column
    }
    case 'expression': {
      const { kind, ...rest } = entry
      return rest
    }
  }
}

/** A draft keeps the lines as they are, half-typed ones and all. */
export const writeDraft = (lines: Lines): string => JSON.stringify(lines)
export function readDraft(text: string | undefined): Lines | undefined {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Lines
  } catch {
    return undefined
  }
}

/** Sets what fills a field, or leaves it to the names again. */
export function withEntry(lines: Lines, field: string, entry: MappingChoice | undefined): Lines {
  const others = lines.filter((line) => line.field !== field)
  if (!entry) return others
  return lines.some((line) => line.field === field)
    ? lines.map((line) => (line.field === field ? { field, entry } : line))
    : [...others, { field, entry }]
}

/** Errors that prevent saving, by the number of their line. */
export function errorsOfLines(
  lines: Lines,
  say: { noName: string; noColumn: string; noExpression: string; twice: string },
): ReadonlyMap<number, { field?: string; column?: string }> {
  const fieldErrors = new Map<number, { field?: string; column?: string }>()
  for (const [index, { field, entry }] of lines.entries()) {
    const name = field.trim()
    const of = {
      ...(name === '' ? { field: say.noName } : {}),
      ...(name !== '' && lines.findIndex((line) => line.field.trim() === name) < index ? { field: say.twice } : {}),
      ...(entry.kind === 'column' && entry.column === '' ? { column: say.noColumn } : {}),
      ...(entry.kind === 'expression' && entry.expression.trim() === '' ? { column: say.noExpression } : {}),
    }
    if (Object.keys(of).length > 0) fieldErrors.set(index, of)
  }
  return fieldErrors
}

/**
 * The mapping of a destination with fields of its own, with every field, so that a transfer sends what the editor shows: fields
 * without a source stay empty, even if a column is called like them.
 */
export function completeLines(lines: Lines, fields: readonly string[]): Lines {
  const byField = new Map(lines.map((line) => [line.field, line]))
  return fields.map((field) => {
    const line = byField.get(field)
    const isOpen = line?.entry.kind === 'column' && line.entry.column === ''
    return line && !isOpen ? line : { field, entry: { kind: 'empty' } }
  })
}

/** An expression with which to begin: the column that filled the field. */
export function expressionOf(entry: MappingChoice | undefined): ExpressionChoice {
  const { kind, column, ...rest } = entry?.kind === 'column' ? entry : { kind: '', column: '' }
  return { ...rest, kind: 'expression', expression: column && columnText(column) }
}

/** A column as an expression names it. */
export const columnText = (column: string): string =>
  /^[A-Za-z_]\w*$/.test(column) ? `row.${column}` : `row[${JSON.stringify(column)}]`
