import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { isFile, readImports, resolveImport, testFiles, textOf } from './imports.ts'

const root = dirname(dirname(import.meta.dirname))

/** Changes to these affect every test: what is installed, and the database that every service test starts with. */
const affectsAll = /^(?:package(?:-lock)?\.json|\.node-version|tsconfig\.json|packages\/server\/migrations\/)/

/**
 * The test files that the changes since a commit can affect: test files that import a changed file, directly or
 * indirectly, and test files that read the files of the repository. A connector loads its code only when it moves data,
 * which only its own tests do: the tests of the service do not depend on it.
 *
 * @param since a commit or a branch; uncommitted and untracked changes count too
 * @throws if git does not know `since`
 */
export function testsAffectedSince(since: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const changed = new Set([
    ...git('diff', '--name-only', '--no-renames', '--merge-base', since),
    ...git('ls-files', '--others', '--exclude-standard'),
  ])
  if ([...changed].some((file) => affectsAll.test(file))) return testFiles()
  // Tests of the console use what is built of it, and import none of its files.
  if ([...changed].some((file) => /^packages\/(?:console|connect)\//.test(file))) {
    changed.add('test/harness/browser.ts').add('test/harness/built-console.ts')
  }
  return testFiles().filter((file) => readsRepository(file) || [...closureOf(file)].some((one) => changed.has(one)))
}

/** Whether a test looks for files on its own, so that its imports do not show what it depends on. */
const readsRepository = (file: string): boolean => /\b(?:globSync|testFiles|readdirSync)\(/.test(textOf(file))

/** A test file, with all files that it depends on. */
function closureOf(test: string): ReadonlySet<string> {
  const folder = dirname(test)
  const found = new Set([test])
  for (const file of found) {
    const isOtherConnector = file.startsWith('packages/connectors/src/') && dirname(file) !== folder
    for (const one of referencesOf(file, isOtherConnector)) found.add(one)
  }
  return found
}

const references = new Map<string, { readonly statics: readonly string[]; readonly all: readonly string[] }>()

/** The files of the repository that a file names: in imports, or as a path to start or to read. */
function referencesOf(file: string, onlyStatic: boolean): readonly string[] {
  let known = references.get(file)
  if (!known) {
    const text = /\.(?:ts|tsx|js|mjs)$/.test(file) ? textOf(file) : ''
    const statics = readImports(text).flatMap(({ specifier, typeOnly, dynamic }) =>
      typeOnly || dynamic ? [] : [specifier],
    )
    const quoted = [...text.matchAll(/'([^'\s]+)'/g)].map(([, name = '']) => name)
    const resolve = (names: readonly string[]) => [...new Set(names.flatMap((name) => resolved(file, name)))]
    known = { statics: resolve(statics), all: resolve(quoted) }
    references.set(file, known)
  }
  return onlyStatic ? known.statics : known.all
}

/** Candidates for a quoted name: the target of an import, or a file beside this one or below the root. */
function resolved(from: string, name: string): string[] {
  const paths = [join(dirname(from), name), name].filter(
    (path) => /\.\w+$/.test(path) && !path.startsWith('..') && isFile(path),
  )
  const imported = resolveImport(from, name)
  return imported ? [imported, ...paths] : paths
}
