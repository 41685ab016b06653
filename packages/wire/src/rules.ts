/**
 * The rules of the contract that are plain data and functions, for connectors and runners. The schemas and their library are
 * not included, because a runner loads them more slowly than all its other modules together.
 */
export * from './compatible.ts'
export * from './conditions.ts'
export * from './decide.ts'
export * from './did-you-mean.ts'
export * from './error-actions.ts'
export * from './field-values.ts'
export * from './finding-warnings.ts'
export * from './known-connectors.ts'
export * from './lifecycle.ts'
export * from './limits.ts'
export * from './normal-form.ts'
export * from './normalisations.ts'
export * from './reject-terms.ts'
export * from './rule-keys.ts'
export * from './scopes.ts'
export * from './secret-forms.ts'
export * from './secret-references.ts'
export * from './terms.ts'
export * from './transfer-errors.ts'
