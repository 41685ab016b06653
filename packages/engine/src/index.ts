/**
 * The part of the engine that the service needs without loading the rest: the protocol between a supervisor and its runners, and
 * functions that depend only on connector definitions.
 */

export { columnsDoNotFit } from './columns-do-not-fit.ts'
export type { ConsentPurpose } from './consent-purpose.ts'
export { filterErrors } from './filter-errors.ts'
export { extendMapping } from './mapping/add-columns.ts'
export { type AppliedEcapi, applyEcapi } from './mapping/apply-ecapi.ts'
export { type AppliedTemplate, applyTemplate } from './mapping/apply-template.ts'
export { foldName, wellKnownNames } from './mapping/column-names.ts'
export { defaultCountryErrors } from './mapping/country.ts'
export { mappingErrors } from './mapping/mapping-errors.ts'
export { type Showing, shorten } from './mapping/shorten.ts'
export { defaultTimezoneErrors } from './mapping/timezones.ts'
export * from './protocol.ts'
export {
  mirrorsRows,
  type SettingsOfSides,
  sendsChangedRows,
  settingsForTable,
  sideSettings,
  withDefaults,
} from './settings.ts'
export { acceptedOf, nothingSkipped } from './skipped.ts'
export { storable } from './storable.ts'
