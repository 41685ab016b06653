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

/** What a unit test may import from a folder `test/`. */
const seeds = ['test/harness/property.ts', 'test/harness/seed.ts']

/**
 * The unit tests: the test files in `packages/` that use no server and no helper of the other tests. They import nothing
 * from a folder `test/` but the seed, and none of `node:http`, `node:net`, `node:child_process` and the acceptance suite.
 */
export const unitTests = (): string[] =>
  testFiles().filter(
    (file) =>
      file.startsWith('packages/') &&
      ![...importsOf(file)].some((one) => /(?:^|\/)test\//.test(one) && !seeds.includes(one)) &&
      !/'(?:node:(?:http|net|child_process)|@penstock\/connector\/acceptance)'/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
  )
