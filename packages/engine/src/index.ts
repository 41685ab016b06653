/**
 * What the service needs of the engine without loading it: the protocol between a supervisor and its runners, and what
 * follows from definitions of connectors alone.
 */
export { columnsDoNotFit } from './columns-do-not-fit.ts'
export { foldName, wellKnownNames } from './mapping/column-names.ts'
export { mappingErrors } from './mapping/read-mapping.ts'
export * from './protocol.ts'
export { sideSettings, withDefaults } from './settings.ts'
export { storable } from './storable.ts'
