import { execFileSync } from 'node:child_process'
import { basename, dirname, matchesGlob, posix } from 'node:path'
import { isFolder, readImports, remembered, resolveImport, testFiles, testGlobs, textOf } from './imports.ts'
import { isLarge } from './tiers.ts'
import { closureOf, connectorsUsing, runsConnectorIn } from './uses.ts'

const root = dirname(dirname(import.meta.dirname))

/** Changes to these files affect every test: installed packages, and the database that every service test starts with. */
const affectsAll = /^(?:package(?:-lock)?\.json|\.node-version|tsconfig\.json|packages\/server\/migrations\/)/

/**
 * The files that have changed since a commit.
 * @param since a commit or a branch; uncommitted and untracked changes are included
 * @throws if git does not know `since`
 */
export function changedSince(since: string): ReadonlySet<string> {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  return new Set([
    ...git('diff', '--name-only', '--no-renames', '--merge-base', since),
    ...git('ls-files', '--others', '--exclude-standard'),
  ])
}

/** The test files that changes can affect, large ones too: tests that use a changed file, and tests that look for such files. */
export function testsAffectedBy(changes: ReadonlySet<string>): string[] {
  const changed = new Set(changes)
  if ([...changed].some((file) => affectsAll.test(file))) return testFiles()
  // Tests of the console use its build, and import none of its files.
  if ([...changed].some((file) => /^packages\/(?:console|connect)\//.test(file))) {
    changed.add('test/harness/browser.ts').add('test/harness/built-console.ts')
  }
  const files = [...changed]
  return testFiles().filter((test) => files.some((file) => closureOf(test).has(file) || looksFor(test, file)))
}

/**
 * Whether a test that changes affect runs with every change. All tests that guard every change do. A large test does if it has
 * changed, if it is in the folder of a changed source, if it runs a connector that has changed, or if it has the
 * name of the screen of the console that has changed.
 */
export function runsWithChanges(test: string, changed: ReadonlySet<string>): boolean {
  if (!isLarge(test) || changed.has(test)) return true
  const folders = [...changed].filter((file) => file.startsWith('packages/')).map(dirname)
  if (folders.includes(dirname(test))) return true
  if (folders.some((folder) => runsConnectorIn(test, folder))) return true
  const screens = folders.filter((folder) => dirname(folder) === 'packages/console/src/screens')
  return screens.some((screen) => basename(test) === `console-${basename(screen)}.large.test.ts`)
}

/**
 * The slugs of the connectors that changes affect. Large tests of all connectors only need to run these. Undefined if the tests
 * themselves have changed.
 */
export const connectorsToTry = (changed: ReadonlySet<string>): string[] | undefined =>
  [...changed].some((file) => /^test\/|^packages\/[^/]+\/test\//.test(file)) ? undefined : connectorsUsing(changed)

/** Whether a test looks for files on its own, and can find this one. */
const looksFor = (test: string, file: string): boolean =>
  globsOf(test).some((glob) => glob === anyFile || matchesGlob(file, glob))

/** The glob of a test whose globs cannot be read. */
const anyFile = '**'

/** The globs of the files that a test looks for, below the root. */
const globsOf = remembered((test) => {
  const text = textOf(test)
  const globs = [...text.matchAll(/\bglobSync\(\s*(\[[^\]]*\]|'[^']*'|[^,]*)(?:, \{\s*cwd: ([\w.]+))?/g)].flatMap(
    ([, given = '', folder = '']) => {
      const patterns = [...given.matchAll(/'([^']*)'/g)].map(([, pattern = '']) => pattern)
      const owner = packageThatNames(folder, test, text)
      if (owner) return [`${owner}/**`]
      const base = folderOf(test, text, folder)
      if (patterns.length === 0 || base === undefined) return [anyFile]
      return patterns.map((pattern) => posix.join(base, pattern))
    },
  )
  if (/\btestFiles\(/.test(text)) globs.push(...testGlobs)
  // A large test reads folders that it has made.
  if (/\breaddirSync\(/.test(text) && !isLarge(test)) globs.push(anyFile)
  return globs
})

/** The folder that a name means in a test, relative to the root. Undefined if that is not visible. */
function folderOf(test: string, text: string, name: string): string | undefined {
  if (name === 'import.meta.dirname') return dirname(test)
  const value = new RegExp(`const ${name} = (.*)$`, 'm').exec(text)?.[1]
  if (value === 'dirname(import.meta.dirname)') return dirname(dirname(test))
  const named = /(?:join|new URL)\((?:import\.meta\.dirname, )?((?:'[^']+'(?:, )?)+)/.exec(value ?? '')?.[1]
  if (named === undefined) return undefined
  const folder = posix.join(dirname(test), ...[...named.matchAll(/'([^']+)'/g)].map(([, part = '']) => part))
  return isFolder(folder) ? folder : undefined
}

/** The package of ours from which a test imports the name of a folder. */
function packageThatNames(name: string, test: string, text: string): string | undefined {
  const imported = readImports(text).find(({ names }) => names?.includes(name))
  const path = imported && resolveImport(test, imported.specifier)
  return path && /^packages\/[^/]+/.exec(path)?.[0]
}
