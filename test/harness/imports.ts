import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** Every test file, relative to the root of the repository. */
export const testFiles = (): string[] =>
  globSync(['test/**/*.test.ts', 'packages/*/src/**/*.test.ts'], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()

/** The files that a file imports, and those that these import, as far as paths are relative; types do not count. */
export function importsOf(file: string): ReadonlySet<string> {
  const found = new Set([file])
  for (const one of found) {
    const text = readFileSync(join(root, one), 'utf8')
    const statics = /^(?:import|export)\s+(?!type\s)(?:[\w$*{},\s]+?\sfrom\s+)?'(\.[^']+)'/gm
    for (const [, specifier = ''] of text.matchAll(statics)) {
      const path = join(dirname(one), specifier).replaceAll('\\', '/')
      if (existsSync(join(root, path))) found.add(path)
    }
  }
  found.delete(file)
  return found
}

/**
 * The unit tests: the test files in `packages/` that need no database and no installed program, which is to say that they
 * import neither `test/harness/database.ts` nor `test/harness/programs.ts`.
 */
export const unitTests = (): string[] =>
  testFiles().filter((file) => {
    const imports = importsOf(file)
    const servers = ['test/harness/database.ts', 'test/harness/programs.ts']
    return file.startsWith('packages/') && !servers.some((one) => imports.has(one))
  })
