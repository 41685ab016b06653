import { globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** The globs of all test files, below the root of the repository. */
export const testGlobs: readonly string[] = ['test/**/*.test.ts', 'packages/*/{src,test}/**/*.test.ts']

/** Every test file, relative to the root of the repository. */
export const testFiles = (): string[] =>
  globSync([...testGlobs], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()

export type Import = {
  readonly specifier: string
  readonly typeOnly: boolean
  readonly dynamic: boolean
  /** The imported or exported names, as the other module has them, without types. Undefined: all names. */
  readonly names: readonly string[] | undefined
  readonly isExport: boolean
}

/** An import or re-export as the formatter leaves it: it begins a line. */
export const staticImport: RegExp = /^(import|export)\s+(type\s+)?(?:([\w$*{},\s]+?)\sfrom\s+)?'([^']+)'/gm

/** Every import and re-export of a text. */
export function readImports(text: string): Import[] {
  const dynamics = /(?<=[^.\w])import\(\s*'([^']+)'/g
  return [
    ...[...text.matchAll(staticImport)].map(([, keyword, type, clause, specifier = '']) => ({
      specifier,
      typeOnly: type !== undefined,
      dynamic: false,
      names: namesIn(clause),
      isExport: keyword === 'export',
    })),
    ...[...text.matchAll(dynamics)].map(([, specifier = '']) => ({
      specifier,
      typeOnly: false,
      dynamic: true,
      names: undefined,
      isExport: false,
    })),
  ]
}

/** The names of the other module in `{ a, b as c, type D }`. */
function namesIn(clause: string | undefined): string[] | undefined {
  const [, list] = /^\{([^}]*)\}$/.exec(clause?.trim() ?? '') ?? []
  return list
    ?.split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('type '))
    .map((one) => one.split(/\s+as\s+/)[0] ?? '')
}

/**
 * The file that a specifier names: a relative file, or an export of one of our packages.
 * @param from the file that imports it, relative to the root
 * @returns its path relative to the root; undefined if it is not in this repository
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

/** Exports of one of our packages. Empty if the package does not exist. */
function exportsOf(folder: string): Exports {
  const path = `packages/${folder}/package.json`
  const known = manifests.get(path)
  if (known) return known
  const { exports = {} } = isFile(path) ? (JSON.parse(textOf(path)) as { exports?: Exports }) : {}
  manifests.set(path, exports)
  return exports
}

/** The files that a file imports, directly or indirectly, by relative paths. Imports of types are ignored. */
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

/** A function of a file that reads it once. */
export function remembered<V>(read: (file: string) => V): (file: string) => V {
  const values = new Map<string, V>()
  return (file) => {
    const known = values.get(file)
    if (known !== undefined) return known
    const value = read(file)
    values.set(file, value)
    return value
  }
}

/** Whether the repository has a file of this path. */
export const isFile: (path: string) => boolean = remembered(
  (path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ?? false,
)

/** Whether the repository has a folder of this path. */
export const isFolder = (path: string): boolean =>
  statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false

/** The text of a file of the repository. */
export const textOf: (file: string) => string = remembered((file) => readFileSync(join(root, file), 'utf8'))

/** Imports of a unit test from a folder `test/` that are allowed. */
const seeds = ['test/harness/property.ts', 'test/harness/seed.ts']

/**
 * The unit tests: the test files in `packages/` that use no server and no helper of the other tests. From folders named `test/`
 * they import only the seed. They do not import `node:http`, `node:net`, `node:child_process` or the acceptance suite.
 */
export const unitTests = (): string[] =>
  testFiles().filter(
    (file) =>
      file.startsWith('packages/') &&
      ![...importsOf(file)].some((one) => /(?:^|\/)test\//.test(one) && !seeds.includes(one)) &&
      !/'(?:node:(?:http|net|child_process)|@penstock\/connector\/acceptance)'/.test(textOf(file)),
  )
