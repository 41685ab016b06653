import { globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** Every test file, relative to the root of the repository. */
export const testFiles = (): string[] =>
  globSync(['test/**/*.test.ts', 'packages/*/src/**/*.test.ts'], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()

export type Import = { readonly specifier: string; readonly typeOnly: boolean; readonly dynamic: boolean }

/** Every import and re-export of a text as the formatter leaves them: each begins a line. */
export function readImports(text: string): Import[] {
  const statics = /^(?:import|export)\s+(type\s+)?(?:[\w$*{},\s]+?\sfrom\s+)?'([^']+)'/gm
  const dynamics = /(?<=[^.\w])import\(\s*'([^']+)'/g
  return [
    ...[...text.matchAll(statics)].map(([, type, specifier = '']) => ({
      specifier,
      typeOnly: type !== undefined,
      dynamic: false,
    })),
    ...[...text.matchAll(dynamics)].map(([, specifier = '']) => ({ specifier, typeOnly: false, dynamic: true })),
  ]
}

/**
 * The file that a specifier names: one beside the file that imports it, or one that a package of ours exports.
 * @param from the file that imports it, relative to the root
 * @returns its path relative to the root; undefined for what is not of this repository
 */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) {
    const path = posix.join(posix.dirname(from), specifier)
    return isFile(path) ? path : undefined
  }
  const [, folder, entry = ''] = /^@penstock\/([^/]+)(\/.+)?$/.exec(specifier) ?? []
  if (!folder) return undefined
  const exported = exportsOf(folder)[`.${entry}`]
  // Of several conditions, the last one is the default.
  const path = typeof exported === 'string' ? exported : Object.values(exported ?? {}).at(-1)
  return path && posix.join('packages', folder, path)
}

type Exports = Readonly<Record<string, string | Readonly<Record<string, string>>>>
const manifests = new Map<string, Exports>()

/** Exports of one of our packages; empty if there is no such package. */
function exportsOf(folder: string): Exports {
  const path = `packages/${folder}/package.json`
  const known = manifests.get(path)
  if (known) return known
  const { exports = {} } = isFile(path) ? (JSON.parse(textOf(path)) as { exports?: Exports }) : {}
  manifests.set(path, exports)
  return exports
}

/** The files that a file imports, directly or indirectly, by relative paths; types do not count. */
export function importsOf(file: string): ReadonlySet<string> {
  const found = new Set([file])
  for (const one of found) {
    for (const { specifier, typeOnly, dynamic } of readImports(textOf(one))) {
      const path = typeOnly || dynamic || !specifier.startsWith('.') ? undefined : resolveImport(one, specifier)
      if (path) found.add(path)
    }
  }
  found.delete(file)
  return found
}

/** Whether the repository has a file of this path. */
export const isFile = (path: string): boolean =>
  statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ?? false

/** The text of a file of the repository. */
export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Imports of a unit test from a folder `test/` that are allowed. */
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
      !/'(?:node:(?:http|net|child_process)|@penstock\/connector\/acceptance)'/.test(textOf(file)),
  )
