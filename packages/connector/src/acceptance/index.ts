export * from './context.ts'
