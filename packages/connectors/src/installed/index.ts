export * from './error-of-definition.ts'
export * from './installed.ts'
export * from './package-manifest.ts'
export * from './written-definition.ts'
