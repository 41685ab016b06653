export * from './store.ts'
