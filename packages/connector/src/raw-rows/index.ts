export * from './raw-layout.ts'
export * from './raw-rows.ts'
