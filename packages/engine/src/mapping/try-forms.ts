import type { Row } from '@penstock/connector'
import type { Preview } from '@penstock/wire'
import { normalisations } from '@penstock/wire/rules'
import { countryOf } from './lint.ts'
import { defaultCountryFor, type MapperOptions } from './mapper.ts'
import { normalisers } from './normalise.ts'
import { type MappingPlan, withCountry } from './plan.ts'
import { isPersonal, type Showing, shorten } from './shorten.ts'

export type TriedForms = NonNullable<Preview['forms']>

/** Different values that are shown. */
const valuesMax = 3

/**
 * Tries each form on the values that fill a field: the values in this form, and how many can be brought into it.
 * @returns undefined if neither a column nor an expression fills the field
 */
export function tryForms(
  plan: MappingPlan,
  columns: readonly string[],
  { field, rows }: { field: string; rows: readonly Row[] },
  options: MapperOptions,
  showing: Showing,
): TriedForms | undefined {
  const step = plan.steps.find((one) => one.field === field)
  const { column, expression } = step ?? {}
  if (!step || (!column && !expression)) return undefined
  const located = withCountry(plan, columns)
  const cells = rows.flatMap((row) => {
    const text = textOf(() => (expression ? expression.evaluate(row) : row[column?.index ?? -1]))
    return text === '' ? [] : [{ text, country: countryOf(located, row, defaultCountryFor(step.definition, options)) }]
  })
  const samples = [...new Map(cells.map((cell) => [cell.text, cell])).values()].slice(0, valuesMax)
  // A value in a form belongs to a person, as the column of a destination would.
  const personal = isPersonal({ ...step, definition: undefined })
  return {
    field,
    records: cells.length,
    values: samples.map(({ text }) => shorten(text, personal, showing) ?? ''),
    forms: normalisations.map((form) => {
      const normalise = normalisers[form]
      return {
        form,
        fits: cells.filter(({ text, country }) => normalise(text, country) !== undefined).length,
        values: samples.map(({ text, country }) => shorten(normalise(text, country) ?? null, personal, showing)),
      }
    }),
  }
}

/** The text of a cell without surrounding spaces; empty if the cell has no value. */
function textOf(read: () => Row[number] | undefined): string {
  try {
    return String(read() ?? '').trim()
  } catch {
    return ''
  }
}
