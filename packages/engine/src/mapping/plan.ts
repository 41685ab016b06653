import type { RecordField, Records, Row } from '@penstock/connector'
import { compileExpression, type Expression } from '@penstock/expressions'
import { answerKey } from '@penstock/expressions/local'
import type { FieldError } from '@penstock/wire'
import { answersOf } from './answers.ts'
import { chooseColumns, type MappingStep } from './choose-columns.ts'
import { conceptOf, readColumnName } from './column-names.ts'
import { normaliseCountry } from './country.ts'
import { readsByCountry } from './normalise.ts'
import { type EntryForm, type Mapping, readingOf } from './read-mapping.ts'
import { howToMap, list, noSuchColumn } from './wording.ts'

/** How rows of a source become rows of a destination; created once for each transfer. */
export type MappingPlan = {
  /** The columns of the destination, in the order of `steps`. */
  readonly columns: readonly string[]
  readonly steps: readonly MappingStep[]
  /** Rows pass unchanged. */
  readonly asIs: boolean
  /** Groups of which a row must fill at least one field, and groups whose fields a row must fill together: indexes of steps. */
  readonly oneOf: readonly (readonly number[])[]
  readonly together: readonly (readonly number[])[]
  /** The source's column with the country of a row. National phone numbers of the row are read with this country. */
  readonly countryIndex: number | undefined
  /** The same if the mapping computes it from several columns. */
  readonly countryExpression?: Expression
  /** The country that the mapping sets for all rows, or for rows whose column is empty. It is read like a value of the column. */
  readonly countryOfAll?: string
  /** Values of that column that the mapping replaces. */
  readonly countryAnswers?: ReadonlyMap<string, string | null>
  /** Fields that a column would fill but that are not sent, and why. */
  readonly leftOut: readonly { readonly field: string; readonly reason: string }[]
}

/**
 * Decides which column of a source fills which field of a destination. Without records, the destination accepts any columns: all
 * columns pass, or only the columns that the mapping names. With records, a field gets the column that the mapping names.
 * Otherwise it gets the column with its name, one of its synonyms, or a common name for such a field. On failure it returns all
 * errors together, each with advice.
 * @param path the path of the mapping in the request, for the errors
 */
export function planMapping(
  given: PlanOptions,
): { plan: MappingPlan; fieldErrors?: never } | { plan?: never; fieldErrors: FieldError[] } {
  const { plan, fieldErrors } = planWhatFits(given)
  return fieldErrors.length > 0 ? { fieldErrors } : { plan }
}

type PlanOptions = {
  records: Records | undefined
  columns: readonly string[]
  mapping: Mapping | undefined
  path?: string
  /** The key of keyed hashes; by default there is no key. */
  hashKey?: string | undefined
}

/** The same for the fields that can be filled, with the errors of the others: shows the effect of an unfinished mapping. */
export function planWhatFits(given: PlanOptions): { plan: MappingPlan; fieldErrors: FieldError[] } {
  const { records, columns, mapping = {}, path = 'destConnectionConfig.mapping', hashKey } = given
  const { steps, fieldErrors } = records
    ? chooseColumns(records, columns, mapping, path)
    : renameColumns(columns, mapping, { path, hashKey })
  const leftOut = records ? leaveOutIncompleteGroups(steps, records, mapping, path, fieldErrors) : []
  const kept = steps.filter(({ field }) => !leftOut.some((left) => left.field === field))
  if (records) fieldErrors.push(...missingFields(kept, records, fieldErrors, path))
  if (fieldErrors.length === 0 && kept.length === 0) {
    fieldErrors.push({ field: path, message: `leaves nothing to send; the source has the columns ${list(columns)}` })
  }
  return {
    fieldErrors,
    plan: {
      columns: kept.map(({ field }) => field),
      steps: kept,
      asIs:
        !records &&
        kept.length === columns.length &&
        kept.every((step, index) => step.column?.index === index && passesAsIs(step)),
      oneOf: groupsOf(kept, 'oneOf'),
      together: groupsOf(kept, 'together'),
      ...findCountry(kept, columns),
      leftOut,
    },
  }
}

const passesAsIs = ({ definition, local, values, default: fallback }: MappingStep): boolean =>
  !definition && !local && !values && fallback === undefined

function renameColumns(
  columns: readonly string[],
  mapping: Mapping,
  { path, hashKey }: Pick<PlanOptions, 'path' | 'hashKey'>,
) {
  const fieldErrors: FieldError[] = []
  const steps: MappingStep[] = []
  const entries: [string, Mapping[string]][] =
    Object.keys(mapping).length > 0 ? Object.entries(mapping) : columns.map((name) => [name, name])
  for (const [field, entry] of entries) {
    if (entry === null) continue
    if (typeof entry === 'object' && 'value' in entry) {
      steps.push({ field, definition: undefined, value: entry.value })
      continue
    }
    if (typeof entry === 'object' && 'expression' in entry) {
      const { expression, wrong, problem } = compileExpression(entry.expression, columns, { hashKey })
      if (expression) steps.push({ field, definition: definitionOf(field, entry), expression, ...readingOf(entry) })
      else
        fieldErrors.push({
          field: `${path}.${field}`,
          message: `expression ${wrong}`,
          ...(problem && { place: problem }),
        })
      continue
    }
    const name = typeof entry === 'object' ? entry.column : entry
    const index = columns.indexOf(name)
    if (index >= 0)
      steps.push({ field, definition: definitionOf(field, entry), column: { name, index }, ...readingOf(entry) })
    else fieldErrors.push({ field: `${path}.${field}`, message: noSuchColumn(name, columns) })
  }
  return { steps, fieldErrors }
}

/** A mapping entry of a column that passes, in the form of a destination's field. */
function definitionOf(field: string, entry: string | EntryForm): RecordField | undefined {
  if (typeof entry === 'string' || !(entry.normalise || entry.hash)) return undefined
  return {
    description: field,
    required: false,
    ...(entry.normalise ? { normalise: entry.normalise } : {}),
    ...(entry.hash ? { hashed: [entry.hash] } : {}),
  }
}

/**
 * Fields of a group that must be filled together, but of which some have no column. Identifiers are removed, because there are
 * others. Any other missing field must be mapped.
 */
function leaveOutIncompleteGroups(
  steps: readonly MappingStep[],
  records: Records,
  mapping: Mapping,
  path: string,
  fieldErrors: FieldError[],
): { field: string; reason: string }[] {
  const leftOut: { field: string; reason: string }[] = []
  const has = (field: string) => steps.some((step) => step.field === field)
  for (const fields of groupFields(records, 'together')) {
    const missing = fields.filter((field) => !has(field))
    const present = fields.filter(has)
    if (missing.length === 0 || present.length === 0) continue
    const needed = present.some(
      (field) => records[field]?.required || !records[field]?.oneOf || Object.hasOwn(mapping, field),
    )
    const reason = `goes together with ${list(missing)}, for which the source has no column`
    if (!needed) leftOut.push(...present.map((field) => ({ field, reason })))
    else {
      for (const field of missing) {
        // Fields that are reported as ambiguous are not reported as missing as well.
        if (fieldErrors.some((fieldError) => fieldError.field === `${path}.${field}`)) continue
        fieldErrors.push({
          field: `${path}.${field}`,
          message: `is needed, as ${list(present)} cannot go without it: ${howToMap(field)}`,
        })
      }
    }
  }
  return leftOut
}

function missingFields(
  steps: readonly MappingStep[],
  records: Records,
  known: readonly FieldError[],
  path: string,
): FieldError[] {
  const has = (field: string) =>
    steps.some((step) => step.field === field) || known.some((fieldError) => fieldError.field === `${path}.${field}`)
  const missing = Object.keys(records)
    .filter((field) => records[field]?.required && !has(field))
    .map((field) => ({ field: `${path}.${field}`, message: `has no column in the source: ${howToMap(field)}` }))
  const groups = groupFields(records, 'oneOf').filter((fields) => !fields.some(has))
  return [
    ...missing,
    ...groups.map((fields) => ({
      field: path,
      message: `The source has no column for any of ${list(fields)}: ${howToMap(fields[0] ?? '')}`,
    })),
  ]
}

function groupFields(records: Records, kind: 'oneOf' | 'together'): string[][] {
  const groups = new Map<string, string[]>()
  for (const [field, definition] of Object.entries(records)) {
    const name = definition[kind]
    if (name !== undefined) groups.set(name, [...(groups.get(name) ?? []), field])
  }
  return [...groups.values()]
}

function groupsOf(steps: readonly MappingStep[], kind: 'oneOf' | 'together'): number[][] {
  const groups = new Map<string, number[]>()
  for (const [index, { definition }] of steps.entries()) {
    const name = definition?.[kind]
    if (name !== undefined) groups.set(name, [...(groups.get(name) ?? []), index])
  }
  return [...groups.values()]
}

function findCountry(
  steps: readonly MappingStep[],
  columns: readonly string[],
): Pick<MappingPlan, 'countryIndex' | 'countryExpression' | 'countryOfAll' | 'countryAnswers'> {
  const reads = steps.some(({ definition }) => definition?.normalise && readsByCountry(definition.normalise))
  return reads ? countryIn(steps, columns) : { countryIndex: undefined }
}

/** A plan that knows the country of a row, although none of its fields is read by it yet. */
export const withCountry = (plan: MappingPlan, columns: readonly string[]): MappingPlan => ({
  ...plan,
  ...countryIn(plan.steps, columns),
})

function countryIn(steps: readonly MappingStep[], columns: readonly string[]): ReturnType<typeof findCountry> {
  const mapped =
    steps.find(({ definition }) => definition?.normalise === 'country') ??
    steps.find(({ field, definition, value }) => !definition && value !== undefined && isCountryName(field))
  if (mapped?.value !== undefined) return { countryIndex: undefined, countryOfAll: mapped.value }
  if (mapped?.column || mapped?.expression) {
    return {
      countryIndex: mapped.column?.index,
      ...(mapped.expression && { countryExpression: mapped.expression }),
      ...(mapped.default === undefined ? {} : { countryOfAll: mapped.default }),
      ...(mapped.values ? { countryAnswers: answersOf(mapped.values) } : {}),
    }
  }
  const named = columns.flatMap((name, index) => (isCountryName(name) ? [index] : []))
  return { countryIndex: named.length === 1 ? named[0] : undefined }
}

function isCountryName(name: string): boolean {
  const { subject, digest } = readColumnName(name)
  return digest === undefined && conceptOf(subject) === 'country'
}

/** The country that a row itself names. Its national phone numbers are read with this country. */
export function countryNamedBy(
  { countryIndex, countryExpression, countryOfAll, countryAnswers }: MappingPlan,
  row: Row,
): string | undefined {
  const text = countryExpression ? textOf(countryExpression, row) : String(row[countryIndex ?? -1] ?? '')
  const answer = countryAnswers?.get(answerKey(text))
  return normaliseCountry(answer === undefined ? text : (answer ?? '')) ?? normaliseCountry(countryOfAll ?? '')
}

/** The value of an expression; empty if it fails, because the row is rejected elsewhere. */
function textOf({ evaluate }: Expression, row: Row): string {
  try {
    return String(evaluate(row) ?? '')
  } catch {
    return ''
  }
}
