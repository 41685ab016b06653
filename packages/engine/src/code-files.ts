import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The modules that runners load, as absolute paths. The build of the published package replaces this module. */
export const codeFiles = (): string[] =>
  [
    '@penstock/parquet',
    '@penstock/expressions',
    '@penstock/connector',
    '@penstock/connectors',
    '@penstock/engine',
  ].flatMap((name) => {
    const folder = dirname(fileURLToPath(import.meta.resolve(name)))
    const exclude = ['**/*.test.ts', '**/*.d.ts', 'acceptance/**']
    return globSync('**/*.ts', { cwd: folder, exclude }).map((file) => join(folder, file))
  })
