/**
 * Maps the columns of a source to the fields of a destination: `planMapping` finds the column of each field, `createMapper`
 * converts the values, and `lintRows`, `shorten` and `redactRow` determine what people can see of them. Pure functions.
 */

export type { MappingStep } from './choose-columns.ts'
export { defaultCountryErrors } from './country.ts'
export * from './lint.ts'
export { createMapper, type MappedRows, passesUnchanged, type RowError, type RowMapper as Mapper } from './mapper.ts'
export { mappingErrors } from './mapping-errors.ts'
export { type ColumnMatch, matchColumns } from './match-columns.ts'
export { type MappingPlan, planMapping, planWhatFits } from './plan.ts'
export { proposeReadings } from './propose-readings.ts'
export { type Mapping, type MappingEntry, readMapping } from './read-mapping.ts'
export * from './redact.ts'
export * from './shorten.ts'
export { defaultTimezoneErrors } from './timezones.ts'
export { tryExpression } from './try-expressions.ts'
export { tryForms } from './try-forms.ts'
