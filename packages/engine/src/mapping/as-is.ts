import type { MappingPlan } from './plan.ts'

/** The plan by which all columns of a source pass under their own names, untouched. @param columns one at least */
export const planAsIs = (columns: readonly string[]): MappingPlan => ({
  columns,
  steps: columns.map((name, index) => ({ field: name, definition: undefined, column: { name, index } })),
  asIs: true,
  oneOf: [],
  together: [],
  countryIndex: undefined,
  leftOut: [],
})
