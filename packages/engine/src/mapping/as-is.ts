import type { MappingPlan } from './plan.ts'

/** The plan that passes all columns of a source unchanged, under their own names. @param columns at least one */
export const planAsIs = (columns: readonly string[]): MappingPlan => ({
  columns,
  steps: columns.map((name, index) => ({ field: name, definition: undefined, column: { name, index } })),
  asIs: true,
  oneOf: [],
  together: [],
  countryIndex: undefined,
  leftOut: [],
})
