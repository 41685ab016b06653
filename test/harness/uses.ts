import { basename, dirname, join } from 'node:path'
import { isFile, readImports, remembered, resolveImport, textOf } from './imports.ts'
import { referencesOf } from './references.ts'
import { isLarge } from './tiers.ts'

/**
 * Which files a test uses. The boundaries of the architecture count, which `test/boundaries.test.ts` proves:
 *
 * - The service loads the definitions of all connectors and treats them alike. A test of the service uses the connectors that it
 *   names by their slugs. A test that goes through the catalogue uses all connectors.
 * - Only runners load the engine and the code of connectors. A test of the service uses the jobs that its operations and its
 *   worker run. `lane.ts` fails a test that guards every change and runs another job.
 */

const connectorsFolder = 'packages/connectors/src'
const catalogue = `${connectorsFolder}/index.ts`
/** Loads one connector by its slug. */
const loader = `${connectorsFolder}/load.ts`
/** Starts the service in a process, which runs every job. */
const program = 'packages/server/bin/penstock.js'
/** Names the programs that the service starts. */
const places = 'packages/server/src/places.ts'
const service = 'packages/server/src/service.ts'
const handlers = 'packages/server/src/handlers.ts'
/** Runs a job of each kind in a runner. */
const jobs = 'packages/engine/src/jobs.ts'
/** Modules that run jobs, and the helpers of tests that record which jobs a service runs. */
const runsJobs = [jobs, 'packages/server/src/runners/runner-pool.ts']
const recording = ['test/harness/in-process-runners.ts', 'test/harness/service.ts']

/** A test file, with all files that it uses. */
export const closureOf: (test: string) => ReadonlySet<string> = remembered((test) => {
  const { helpers, operations } = factsOf(test)
  const isUsed = (definition: string) => isUsedBy(test, definition)
  const used = new Set([test])
  const add = (files: Iterable<string>) => {
    for (const file of files) used.add(file)
  }
  const addJobs = (kinds: Iterable<string>) => {
    for (const kind of kinds) add([...referencesOf(places).later, jobModules().get(kind) ?? jobs])
  }
  addJobs(operations.flatMap((name) => jobsOfOperations().get(name) ?? []))
  if (helpers.some((file) => !recording.includes(file) && usedBy(file).some((one) => runsJobs.includes(one))))
    addJobs(jobModules().keys())
  let isOfCode = helpers.some((file) => usedBy(file).some(isOfConnector))
  for (const file of used) {
    const { statics, later } = referencesOf(file)
    if (file === catalogue) add(statics.filter((one) => !definitions().has(one) || isUsed(one)))
    else if (file === jobs) add(statics.filter((one) => ![...jobModules().values()].includes(one)))
    else add(statics)
    if (file !== places && file !== jobs && (isOfCode || !isOfConnector(file))) add(later)
    if (file === program || (file === places && isLarge(test))) addJobs(jobModules().keys())
    if (isOfServer(file)) addJobs(jobsIn(file, /\brunners\.run\(/))
    if (file === loader) {
      add([...definitions()].filter(isUsed))
      if (!isOfCode) add([...used].filter(isOfConnector).flatMap((one) => referencesOf(one).later))
      isOfCode = true
    }
  }
  return used
})

/** Whether a test runs a connector of a folder, without the service. */
export const runsConnectorIn = (test: string, folder: string): boolean =>
  (test.startsWith(connectorsFolder) || closureOf(test).has(loader)) &&
  !closureOf(test).has(service) &&
  [...definitions()].some((definition) => dirname(definition) === folder && isUsedBy(test, definition))

/** Whether a test uses what runs the jobs of a kind. */
export const usesJobs = (test: string, kind: string): boolean =>
  !jobModules().has(kind) || closureOf(test).has(jobModules().get(kind) ?? '')

/** The slugs of the connectors that use one of these files, which define them or move their data. */
export const connectorsUsing = (files: ReadonlySet<string>): string[] =>
  [...definitions()]
    .filter((definition) => [...codeOf(definition)].some((file) => files.has(file)))
    .map((definition) => basename(definition, '.ts'))

/** The files of connectors that one of them uses. */
const codeOf = remembered((definition) => {
  const found = new Set([definition])
  for (const file of found) for (const one of usedBy(file)) if (isOfConnector(one)) found.add(one)
  return found
})

/** Whether a test names the connector that a file defines, or goes through all connectors. */
function isUsedBy(test: string, definition: string): boolean {
  const { isOfCatalogue, slugs } = factsOf(test)
  return isOfCatalogue || slugs.has(basename(definition, '.ts'))
}

const usedBy = (file: string): readonly string[] => {
  const { statics, later } = referencesOf(file)
  return [...statics, ...later]
}

const isOfTests = (file: string): boolean => /^(?:test|packages\/[^/]+\/test)\/.*\.ts$|\.test\.ts$/.test(file)
const isOfConnector = (file: string): boolean => file.startsWith(`${connectorsFolder}/`) && file !== catalogue
const isOfServer = (file: string): boolean => file.startsWith('packages/server/src/')

type Facts = {
  /** The test, and the helpers of tests that it imports. */
  readonly helpers: readonly string[]
  readonly isOfCatalogue: boolean
  /** The words in its texts, among them the slugs of connectors. */
  readonly slugs: ReadonlySet<string>
  /** The operations that it calls. */
  readonly operations: readonly string[]
}

const factsOf: (test: string) => Facts = remembered((test) => {
  const found = new Set([test])
  for (const file of found) for (const one of usedBy(file)) if (isOfTests(one)) found.add(one)
  const helpers = [...found]
  const facts = helpers.map(factsOfFile)
  return {
    helpers,
    isOfCatalogue: facts.some((one) => one.isOfCatalogue),
    slugs: new Set(facts.flatMap(({ slugs }) => slugs)),
    operations: facts.flatMap(({ operations }) => operations),
  }
})

const factsOfFile = remembered((file) => {
  const text = textOf(file)
  return {
    isOfCatalogue: goesThroughCatalogue(file, text),
    // A slug is a text, a part of a path, or a key.
    slugs: [...text.matchAll(/(?<![\w-])([a-z0-9-]+)(?=['/]|: [{[])/g)].map(([, slug = '']) => slug),
    // An operation is a text, a key, or a function of a client.
    operations: [...text.matchAll(/(?<=')\w+(?=')|\b\w+(?=[:(])/g)]
      .map(([name]) => name)
      .filter((name) => jobsOfOperations().has(name)),
  }
})

/** Files that define connectors, which are named after them. */
const definitions = once(
  (): ReadonlySet<string> =>
    new Set(referencesOf(catalogue).statics.filter((file) => dirname(file) !== connectorsFolder)),
)

/** A connector that is looked up by its slug. */
const lookUp = /\b(?:connectors|listedConnectors)\.find\(\(\{? ?\w+ ?\}?\) => (?:\w+\.)?slug === [^)]+\)/g
/** A list of connectors, in code. */
const list = /(?<![\w.'/])(?:connectors|listedConnectors|platforms|connectorById)(?=[.,)\];])/
/** A connector that is loaded by a slug which is no text. */
const loadsAny = /\bloadConnector\((?!')/

/** Whether a file imports the list of connectors, or what loads any of them, for more than looking up single ones. */
function goesThroughCatalogue(file: string, text: string): boolean {
  const imports = readImports(text).filter(({ typeOnly }) => !typeOnly)
  const isImported = (path: string) => imports.some(({ specifier }) => resolveImport(file, specifier) === path)
  const code = text.replaceAll(/^import [^']*'[^']*'$/gm, '').replaceAll(lookUp, '')
  return (isImported(catalogue) && list.test(code)) || (isImported(loader) && loadsAny.test(code))
}

/** The kinds of jobs that a module of the service runs. */
const jobsIn = (file: string, call: RegExp): string[] => {
  const text = textOf(file)
  if (!call.test(text)) return []
  return [...text.matchAll(/\bkind: '([\w -]+)'/g)]
    .map(([, kind = '']) => kind)
    .filter((kind) => jobModules().has(kind))
}

/** For each operation whose caller waits for a runner, the kinds of its jobs. */
const jobsOfOperations = once(
  () =>
    new Map(
      readImports(textOf(handlers)).flatMap(({ specifier, names = [] }) => {
        const path = resolveImport(handlers, specifier)
        // The pages of a resource, to which its operations lead, are in `flow.ts`.
        const modules = path ? [path, join(dirname(path), 'flow.ts')].filter(isFile) : []
        const kinds = modules.flatMap((module) => jobsIn(module, /\binteractive\.run\(/))
        return kinds.length > 0 ? names.map((name) => [name, kinds] as const) : []
      }),
    ),
)

/** The module that runs each kind of job. */
const jobModules = once(() => {
  const text = textOf(jobs)
  const imports = readImports(text)
  const pathOf = (specifier = '') => resolveImport(jobs, specifier)
  const cases = text.matchAll(/case '([\w -]+)':\n\s+.*?(?:import\('([^']+)'\)|(?:return|await) (run\w+)\()/g)
  return new Map(
    [...cases].flatMap(([, kind = '', dynamic, called = '']) => {
      const path = pathOf(dynamic ?? imports.find(({ names }) => names?.includes(called))?.specifier)
      return path ? [[kind, path] as const] : []
    }),
  )
})

function once<V>(make: () => V): () => V {
  let value: V | undefined
  return () => (value ??= make())
}
