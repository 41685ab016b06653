import type { Cell, RecordField, Row } from '@penstock/connector'
import type { Expression } from '@penstock/expressions'
import { answerKey } from '@penstock/expressions/local'
import { answersOf } from './answers.ts'
import { takesAnyText } from './cell-mapper.ts'
import type { MappingStep } from './choose-columns.ts'
import { normaliseCountry } from './country.ts'
import {
  digestOf,
  digests,
  isDigestOfNothing,
  isForeignDigest,
  looksLikeDigest,
  readBase64Digest,
  readDigest,
} from './hash.ts'
import { type Kind, kindOf } from './kinds.ts'
import { defaultCountryFor, type MapperOptions, stepMapper } from './mapper.ts'
import { normalisers } from './normalise.ts'
import { countryNamedBy, type MappingPlan } from './plan.ts'
import { type FormFinding, proposeForms } from './propose-forms.ts'
import { isPersonal, type Showing, shorten } from './shorten.ts'

/**
 * Statistics of the values of one field. `missing`, `malformed`, `unnormalised`, `alreadyHashed` and `wrongHashLength` exclude
 * each other. `hashedTwice` and `mixedKinds` can include the same values again.
 */
export type FieldLint = {
  readonly field: string
  /** The column that fills it, or the text of the expression. */
  readonly column: string
  /** Rows looked at. */
  readonly records: number
  /** Nothing there: null, an empty or blank text, or the digest of an empty text. */
  missing: number
  /** Cannot be brought into the field's form. */
  malformed: number
  /** Can be brought into the form, and is not in it yet. */
  unnormalised: number
  /** Is a digest, of a kind that the field accepts. */
  alreadyHashed: number
  /**
   * The value is a digest, and the same row proves that it is a digest of a digest: another value of the row is the inner digest,
   * or the original value. A digest without such a value proves nothing, so the count can be too low.
   */
  hashedTwice: number
  /** Looks like a digest, but of a kind or length that the field does not accept. */
  wrongHashLength: number
  /** Is of another kind than most of the column (e-mail address, phone number, digest, device, other): of identifiers only. */
  mixedKinds: number
  /** Different values and their results, shortened for people: first a valid value, then an invalid one, then others. */
  readonly samples: readonly Sample[]
  /** How the values are written, as far as they show it or are ambiguous; absent if there is nothing to report. */
  readonly forms?: ShownFinding[]
}

/** A finding as people see it: `null` for an example that would be shortened. */
export type ShownFinding = Omit<FormFinding, 'example'> & { readonly example: string | null }

/** A value of the source, and the value that would be sent; `null` if it cannot be used. */
export type Sample = { readonly before: string; readonly after: string | null }

const samplesMax = 3

/**
 * Inspects values of the source for each field that a column fills, in the order of the plan. Use it for a sample only: it does
 * more work for each value than a transfer.
 */
export function lintRows(
  plan: MappingPlan,
  rows: readonly Row[],
  options: MapperOptions = {},
  showing: Showing = 'masked',
): FieldLint[] {
  const madeOf = rows.map(digestsOfDigests)
  return plan.steps.flatMap((step) => {
    const { column, expression } = step
    const name = column?.name ?? expression?.text
    if (name === undefined) return []
    const cells = rows.map((row) => (expression ? computed(expression, row) : (row[column?.index ?? -1] ?? null)))
    return [
      lintColumn(step, { name, cells }, rows, madeOf, { ...options, showing }, (row) =>
        countryOf(plan, row, defaultCountryFor(step.definition, options)),
      ),
    ]
  })
}

/** The value of an expression; undefined if it fails for the row. */
function computed({ evaluate }: Expression, row: Row): Cell | undefined {
  try {
    return evaluate(row)
  } catch {
    return undefined
  }
}

function lintColumn(
  step: MappingStep,
  { name, cells }: { name: string; cells: readonly (Cell | undefined)[] },
  rows: readonly Row[],
  madeOf: readonly ReadonlySet<string>[],
  options: MapperOptions & { readonly showing: Showing },
  country: (row: Row) => string | undefined,
): FieldLint {
  const { field, definition } = step
  const lint: FieldLint & { samples: readonly Sample[] } = {
    field,
    column: name,
    records: rows.length,
    missing: 0,
    malformed: 0,
    unnormalised: 0,
    alreadyHashed: 0,
    hashedTwice: 0,
    wrongHashLength: 0,
    mixedKinds: 0,
    samples: [],
  }
  const { showing } = options
  const personal = isPersonal(step)
  const samples = new Samples((value) => shorten(value, personal, showing))
  const { map } = stepMapper(step, options)
  const kinds: Kind[] = []
  for (const [at, row] of rows.entries()) {
    const cell = cells[at]
    if (cell === undefined) {
      lint.malformed++
      continue
    }
    const text = cell === null ? '' : String(cell).trim()
    if (cell === null || text === '' || isDigestOfNothing(text.toLowerCase())) {
      lint.missing++
      continue
    }
    kinds.push(kindOf(cell))
    if (madeOf[at]?.has(text.toLowerCase())) lint.hashedTwice++
    const made = map ? map(cell, country(row)) : cell
    samples.add(cell, made)
    const verdict = judge(definition, cell, text, made, country(row))
    if (verdict) lint[verdict]++
  }
  lint.samples = samples.chosen()
  if (isIdentifying(definition)) lint.mixedKinds = countMixed(kinds)
  if (!definition?.reads) return lint
  const column = cells
    .filter((cell) => cell !== undefined)
    .filter((cell) => !step.values || !isAnswered(step.values, cell))
  const forms = proposeForms(definition.reads, column, step.local ?? {}, options.defaultTimezone)
  if (forms.length === 0) return lint
  return {
    ...lint,
    forms: forms.map(({ example, ...finding }) => ({
      ...finding,
      example: shorten(example, personal, showing)?.trim() === example.trim() ? example.trim() : null,
    })),
  }
}

/** Whether the mapping defines a meaning for the value. Its form is then irrelevant. */
const isAnswered = (values: Readonly<Record<string, string | null>>, cell: Cell): boolean =>
  answersOf(values).has(answerKey(String(cell)))

/** Chooses a few values of a column that show the results of the mapping. */
class Samples {
  readonly #fitting = new Map<string, Sample>()
  readonly #unusable = new Map<string, Sample>()
  readonly #show: (value: Cell) => string | null

  constructor(show: (value: Cell) => string | null) {
    this.#show = show
  }

  add(cell: string | number | boolean, made: Cell | undefined): void {
    const [kept, after] = made === undefined ? [this.#unusable, null] : [this.#fitting, made]
    if (kept.size >= samplesMax) return
    const before = this.#show(cell) ?? ''
    const sample = { before, after: this.#show(after) }
    if (!kept.has(before)) kept.set(before, sample)
  }

  chosen(): Sample[] {
    const [fits, ...fitting] = this.#fitting.values()
    const [wrong, ...unusable] = this.#unusable.values()
    return [fits, wrong, ...fitting, ...unusable].filter((one) => one !== undefined).slice(0, samplesMax)
  }
}

function judge(
  definition: RecordField | undefined,
  cell: string | number | boolean,
  text: string,
  made: Cell | undefined,
  country: string | undefined,
): 'malformed' | 'unnormalised' | 'alreadyHashed' | 'wrongHashLength' | undefined {
  const { normalise: form, hashed = [], digestEncoding } = definition ?? {}
  if (readDigest(text, hashed) !== undefined) return 'alreadyHashed'
  if (digestEncoding === 'base64' && readBase64Digest(text, hashed) !== undefined) return 'alreadyHashed'
  if (hashed.length > 0 && isBrokenDigest(definition, text)) return 'wrongHashLength'
  if (form && hashed.length === 0 && !takesAnyText(definition) && looksLikeDigest(text)) return 'alreadyHashed'
  if (form === undefined) return made === undefined ? 'malformed' : undefined
  if (made === undefined) return 'malformed'
  return normalisers[form](text, country) === String(cell) ? undefined : 'unnormalised'
}

/** A digest of another kind, or a truncated one: this number of hexadecimal characters is neither an address nor a name. */
function isBrokenDigest(definition: RecordField | undefined, text: string): boolean {
  const anyText = takesAnyText(definition)
  return isForeignDigest(text, anyText) || (!anyText && text.length >= 31 && kindOf(text) === 'hash')
}

const isIdentifying = (definition: RecordField | undefined): boolean =>
  Boolean(definition?.hashed || definition?.oneOf || definition?.identifiers || definition?.normalise) &&
  !definition?.values

/**
 * Number of values whose kind is not the most frequent one. All values that do not look like an identifier have the same kind.
 */
function countMixed(kinds: readonly Kind[]): number {
  const counts = new Map<string, number>()
  for (const kind of kinds) {
    // Phone numbers occur with and without signs, so a number with this many digits is treated as a phone number.
    const counted = kind === 'number' ? 'phone' : ['e-mail', 'phone', 'hash', 'device'].includes(kind) ? kind : 'other'
    counts.set(counted, (counts.get(counted) ?? 0) + 1)
  }
  return kinds.length - Math.max(0, ...counts.values())
}

/** Cells of a row that are hashed; hashing takes longer than anything else here. */
const digestedCellsMax = 256

/** Every digest that results from the first cells of a row if a value is hashed twice, or if a digest is hashed. */
function digestsOfDigests(row: Row): Set<string> {
  const found = new Set<string>()
  for (const cell of row.slice(0, digestedCellsMax)) {
    if (cell === null || cell === '' || String(cell).length > 1_000) continue
    const text = String(cell).trim()
    for (const digest of digests) {
      if (looksLikeDigest(text)) found.add(digestOf(digest, text)).add(digestOf(digest, text.toLowerCase()))
      else for (const form of formsOf(text)) found.add(digestOf(digest, digestOf(digest, form)))
    }
  }
  return found
}

/** The forms in which a text is usually hashed. */
const formsOf = (text: string): Set<string> =>
  new Set(
    [
      text,
      ...(['lower', 'email-gmail', 'phone-e164', 'phone-digits'] as const).map((form) => normalisers[form](text)),
    ].filter((form) => form !== undefined),
  )

/** The country by which a national value of a row is read. */
export const countryOf = (plan: MappingPlan, row: Row, defaultCountry: string | undefined): string | undefined =>
  countryNamedBy(plan, row) ?? normaliseCountry(defaultCountry ?? '')
