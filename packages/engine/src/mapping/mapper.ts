import type { Cell, RecordField, Row, RowFault } from '@penstock/connector'
import { reasonOf } from '@penstock/expressions'
import type { LocalForm } from '@penstock/expressions/local'
import { type FieldMapper, fieldMapper, withAnswers } from './cell-mapper.ts'
import type { MappingStep } from './choose-columns.ts'
import { normaliseCountry } from './country.ts'
import { isPhone } from './normalise.ts'
import { countryNamedBy, type MappingPlan } from './plan.ts'

/** Why a row is not delivered, and the field to blame. The reason names the field and holds no value of the row. */
export type RowError = {
  readonly field: string
  readonly reason: string
  /** Further faults of the row, of other fields. */
  readonly others?: readonly RowFault[]
}

export type MappedRows = {
  /** As many rows as the input, in the same order. Rows in `errors` must not be delivered. */
  readonly rows: readonly Row[]
  readonly errors: ReadonlyMap<number, RowError>
  /** By index of the destination's column: number of valid rows from which an unusable identifier was removed. */
  readonly emptied: readonly number[]
}

/**
 * Maps rows of the source. Rows whose indexes are in `skip` already have an error and get no error here. An unusable identifier
 * (a field that is one of several that identify a row) is removed if another identifier remains. An unusable value of an
 * auxiliary field is removed as well. Any other invalid value is an error of its row.
 */
export type RowMapper = (rows: readonly Row[], skip?: ReadonlyMap<number, unknown>) => MappedRows

/**
 * Creates the mapper of a plan.
 * @param options.defaultCountry country for values of rows that name no country: a code or a name
 * @param options.country the same, only for places: a wrong guess at a phone number would be hashed like a right one
 * @param options.defaultTimezone time zone of times without a zone, if the mapping does not define one for their field
 */
export function createMapper(plan: MappingPlan, options: MapperOptions = {}): RowMapper {
  if (plan.asIs) return (rows) => ({ rows, errors: new Map(), emptied: plan.columns.map(() => 0) })
  const countries = new Map<string | undefined, CountryOf>()
  const countryOfStep = ({ definition }: MappingStep): CountryOf => {
    const byDefault = defaultCountryFor(definition, options)
    const known = countries.get(byDefault) ?? countryReader(plan, byDefault)
    countries.set(byDefault, known)
    return known
  }
  const steps = plan.steps.map((step, to) => ({ ...compileStep(step, to, options), countryOf: countryOfStep(step) }))
  return (rows, skip) => {
    const mapped = new Mapped(plan, steps, rows, skip)
    for (const step of steps) {
      if (step.expression) mapped.compute(step, step.expression.evaluate, step.countryOf)
      else mapped.mapColumn(step, step.countryOf)
    }
    mapped.checkRequired()
    mapped.checkTogether()
    mapped.checkOneOf()
    return { rows: mapped.rows, errors: mapped.errors, emptied: mapped.countEmptied() }
  }
}

/** Settings that count for all fields. */
export type MapperOptions = {
  readonly defaultCountry?: string
  readonly country?: string
  readonly defaultTimezone?: string
}

/** The country that applies to a value if its row names no country. */
export const defaultCountryFor = (
  definition: RecordField | undefined,
  { defaultCountry, country }: MapperOptions,
): string | undefined =>
  defaultCountry ?? (definition?.normalise && isPhone(definition.normalise) ? undefined : country)

/** How the values of a field are written, by its mapping or else by the settings for all fields. */
const localFormIn = (
  { definition, local }: MappingStep,
  { defaultTimezone }: Pick<MapperOptions, 'defaultTimezone'>,
): LocalForm =>
  definition?.reads === 'time' && defaultTimezone ? { timezone: defaultTimezone, ...local } : (local ?? {})

/** The functions that map the values of a step's column. */
export const stepMapper = (step: MappingStep, options: MapperOptions): FieldMapper =>
  withAnswers(fieldMapper(step.definition, localFormIn(step, options)), step.values)

/** Whether the values of a step's column are the unchanged values of the source, without replacements. */
export const passesUnchanged = (step: MappingStep, options: MapperOptions): boolean =>
  step.column !== undefined &&
  step.value === undefined &&
  step.default === undefined &&
  stepMapper(step, options).map === undefined

type CompiledStep = ReturnType<typeof compileStep>
type CountryOf = (row: Row) => string | undefined

function compileStep(step: MappingStep, to: number, options: MapperOptions) {
  const { field, definition } = step
  const mapper = stepMapper(step, options)
  const given = step.value ?? step.default
  const isIdentifier = definition?.oneOf !== undefined && !definition.required && !definition.values
  const errors = new Map<string, RowError>()
  const errorOf = (message: string): RowError => {
    const known = errors.get(message)
    if (known) return known
    const error = { field, reason: `${field} ${message}` }
    errors.set(message, error)
    return error
  }
  return {
    ...mapper,
    to,
    from: step.column?.index ?? -1,
    expression: step.expression,
    constant: given === undefined ? undefined : (mapper.map?.(given, undefined) ?? given),
    isRequired: definition?.required ?? false,
    isIdentifier,
    isLeftOut: isIdentifier || (definition?.leftOutIfUnusable ?? false),
    missing: { field, reason: `${field} is missing` },
    errorOf,
  }
}

/** The rows of one chunk while they are mapped, column by column. */
class Mapped {
  readonly rows: Cell[][]
  readonly errors = new Map<number, RowError>()
  /** Columns from which an identifier was removed, by row, and the error of the first one. */
  readonly #leftOut = new Map<number, { readonly columns: number[]; readonly fieldError: RowError }>()
  readonly #given: readonly Row[]
  readonly #plan: MappingPlan
  readonly #steps: readonly CompiledStep[]
  readonly #skip: ReadonlyMap<number, unknown> | undefined

  constructor(
    plan: MappingPlan,
    steps: readonly CompiledStep[],
    given: readonly Row[],
    skip: ReadonlyMap<number, unknown> | undefined,
  ) {
    this.#plan = plan
    this.#steps = steps
    this.#given = given
    this.#skip = skip
    const template = steps.map(({ constant }) => constant ?? null)
    this.rows = given.map(() => template.slice())
  }

  mapColumn(step: CompiledStep, countryOf: CountryOf): void {
    const { from } = step
    if (from < 0) return
    const given = this.#given
    for (let at = 0; at < given.length; at++) {
      const row = given[at] as Row
      this.#put(step, at, row, row[from], countryOf)
    }
  }

  /** The same for a column that is computed from others. A row for which the computation fails is invalid. */
  compute(step: CompiledStep, evaluate: (row: Row) => Cell, countryOf: CountryOf): void {
    for (const [at, row] of this.#given.entries()) {
      if (this.#skip?.has(at)) continue
      try {
        this.#put(step, at, row, evaluate(row), countryOf)
      } catch (error) {
        this.#blame(at, step.errorOf(`has no value: ${reasonOf(error)}`))
      }
    }
  }

  #put(step: CompiledStep, at: number, row: Row, cell: Cell | undefined, countryOf: CountryOf): void {
    const { map, to, byCountry, constant } = step
    if (cell === null || cell === undefined || (cell === '' && constant !== undefined)) return
    const cells = this.rows[at] as Cell[]
    if (!map || cell === '') {
      cells[to] = cell
      return
    }
    const made = map(cell, byCountry ? countryOf(row) : undefined)
    if (made !== undefined) cells[to] = made ?? constant ?? null
    else if (step.isLeftOut) this.#leaveOut(at, to, step.errorOf(step.messageOf(cell)))
    else this.#blame(at, step.errorOf(step.messageOf(cell)))
  }

  checkRequired(): void {
    for (const { isRequired, to, missing } of this.#steps) {
      if (!isRequired) continue
      for (let at = 0; at < this.rows.length; at++) if (this.#isMissing(at, to)) this.#blame(at, missing)
    }
  }

  /** Incomplete groups of identifiers are removed together. In any other group, a value of the row is missing. */
  checkTogether(): void {
    for (const group of this.#plan.together) {
      const areIdentifiers = group.every((to) => this.#steps[to]?.isIdentifier)
      for (let at = 0; at < this.rows.length; at++) {
        const gap = group.find((to) => this.#isMissing(at, to))
        if (gap === undefined) continue
        const present = group.filter((to) => !this.#isMissing(at, to))
        const step = this.#steps[gap]
        if (present.length === 0 || !step) continue
        const others = present.map((to) => this.#plan.columns[to]).join(', ')
        const fieldError = step.errorOf(`is missing, and ${others} cannot go without it`)
        if (!areIdentifiers) this.#blame(at, fieldError)
        else for (const to of present) this.#leaveOut(at, to, fieldError)
      }
    }
  }

  checkOneOf(): void {
    for (const group of this.#plan.oneOf) {
      const names = group.map((to) => this.#plan.columns[to])
      const none = {
        field: names[0] ?? '',
        reason:
          names.length === 1 ? `${names[0]} is missing` : `One of ${names.join(', ')} is needed, and all are missing`,
      }
      for (let at = 0; at < this.rows.length; at++) {
        if (group.some((to) => !this.#isMissing(at, to))) continue
        if (names.some((name) => name !== undefined && this.#isBlamed(at, name))) continue
        const leftOut = this.#leftOut.get(at)
        this.#blame(at, leftOut?.columns.some((to) => group.includes(to)) ? leftOut.fieldError : none)
      }
    }
  }

  countEmptied(): number[] {
    const counts = this.#steps.map(() => 0)
    for (const [at, { columns }] of this.#leftOut) {
      if (!this.errors.has(at)) for (const to of columns) counts[to] = (counts[to] ?? 0) + 1
    }
    return counts
  }

  #isMissing(at: number, to: number): boolean {
    const cell = (this.rows[at] as Cell[])[to]
    return cell === null || cell === ''
  }

  /** A field has only one fault: without a valid value, it would also be missing. */
  #blame(at: number, fieldError: RowError): void {
    if (this.#skip?.has(at)) return
    const before = this.errors.get(at)
    if (!before) this.errors.set(at, fieldError)
    else if (!this.#isBlamed(at, fieldError.field)) {
      this.errors.set(at, { ...before, others: [...(before.others ?? []), fieldError] })
    }
  }

  #isBlamed(at: number, field: string): boolean {
    const error = this.errors.get(at)
    return error?.field === field || Boolean(error?.others?.some((one) => one.field === field))
  }

  #leaveOut(at: number, to: number, fieldError: RowError): void {
    ;(this.rows[at] as Cell[])[to] = null
    if (this.#skip?.has(at)) return
    const leftOut = this.#leftOut.get(at)
    if (leftOut) leftOut.columns.push(to)
    else this.#leftOut.set(at, { columns: [to], fieldError })
  }
}

/** Reads a row's country from its column; a file has only a few different countries. Falls back to the default. */
function countryReader(plan: MappingPlan, defaultCountry: string | undefined): CountryOf {
  const { countryIndex, countryExpression, ...fixed } = plan
  const byDefault = countryNamedBy({ ...fixed, countryIndex: undefined }, []) ?? normaliseCountry(defaultCountry ?? '')
  if (countryExpression) return (row) => countryNamedBy(plan, row) ?? byDefault
  if (countryIndex === undefined) return () => byDefault
  const known = new Map<string, string | undefined>()
  return (row) => {
    const cell = row[countryIndex]
    if (typeof cell !== 'string' || cell === '') return byDefault
    if (known.has(cell)) return known.get(cell)
    const country = countryNamedBy(plan, row) ?? byDefault
    if (known.size < 1_000) known.set(Buffer.from(cell, 'utf16le').toString('utf16le'), country)
    return country
  }
}
