/**
 * The rules of the contract that are plain data and functions: what connectors and runners go by. The schemas, and the
 * library that they are written with, are not among them, because loading that takes a runner longer than all its other
 * modules together.
 */
export * from './compatible.ts'
export * from './conditions.ts'
export * from './decide.ts'
export * from './did-you-mean.ts'
export * from './error-actions.ts'
export * from './field-values.ts'
export * from './finding-warnings.ts'
export * from './lifecycle.ts'
export * from './limits.ts'
export * from './rule-keys.ts'
export * from './scopes.ts'
export * from './secret-forms.ts'
export * from './terms.ts'
export * from './transfer-errors.ts'
