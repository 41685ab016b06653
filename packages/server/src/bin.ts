import { enableCompileCache } from 'node:module'

// Most of a start is reading TypeScript; what was read once is kept.
enableCompileCache()
const { runCommand } = await import('./cli/program.ts')
await runCommand(process.argv.slice(2))
