/**
 * The test runner: `npm test -- [file, pattern or part of a path ...] [flags]`. Without a selection it runs the tests that
 * guard every change. A selection runs all tests of the files that it names.
 *
 *     --all               all tests
 *     --rest              the tests that only --all runs, with those of the same files
 *     --minutes=N         starts, in a random order, only what ends within N minutes by the recorded durations, and names the
 *                         files that it left out
 *     --again             runs up to three files that failed once more, alone, and names the ones that passed then: they depend on
 *                         how busy the machine is
 *     --changed[=commit]  the tests that the changes since a commit can affect; without one, the changes not committed. Only tests
 *                         that guard every change, and large ones of the changed files; with --all, all of them
 *     --unrecorded        the files that `test/durations.json` does not contain
 *     --list              prints the files with what was recorded of them, and runs nothing
 *     --record[=missing]  records in `test/durations.json` what each file took, or only what it does not contain
 *
 * Other flags are for Node. The runner brings up a PostgreSQL with a migrated template database, unless
 * PENSTOCK_TEST_DATABASE_URL names a server, runs the tests on it, and leaves nothing behind. A file that has not ended after
 * PENSTOCK_TEST_FILE_SECONDS, by default eight times as long as it usually takes, is killed and fails. PENSTOCK_TEST_HIDE names installed programs that the
 * tests must do without, as on a machine that has none of them: `PENSTOCK_TEST_HIDE=chromium,mariadbd,sshd`.
 */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { chownSync, constants as constantsOfFiles, existsSync, globSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { access, chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { availableParallelism, constants, tmpdir } from 'node:os'
import { dirname, join, matchesGlob } from 'node:path'
import pg from 'pg'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../packages/server/src/embedded/embedded-postgres.ts'
import { findRunnerUser } from '../packages/server/src/runners/runner-user.ts'
import { buildConsole } from './harness/built-console.ts'
import { changedSince, connectorsToTry, runsWithChanges, testsAffectedBy } from './harness/changed.ts'
import { connectorsVariable } from './harness/chosen-connectors.ts'
import { databaseUrl, execute, serverVariable, socketVariable, templateVariable } from './harness/database.ts'
import { hasLargeTests, isRecorded, listOf, readDurations, recordDurations } from './harness/durations.ts'
import { testFiles } from './harness/imports.ts'
import { type EndedFile, runInLanes } from './harness/lanes.ts'
import { processorSeconds } from './harness/processor-time.ts'
import { hiddenPrograms } from './harness/programs.ts'
import { isLarge, type Tier, tierVariable } from './harness/tiers.ts'

const given = process.argv.slice(2)
const root = dirname(import.meta.dirname)
/** The time limit of a test file, in seconds, if a person sets it. */
const fileSeconds = process.env.PENSTOCK_TEST_FILE_SECONDS ? Number(process.env.PENSTOCK_TEST_FILE_SECONDS) : undefined
/** The default time limit: a multiple of the recorded duration, within these bounds. */
const timeLimit = { times: 8, secondsMin: 240, secondsMax: 1200 }
/** How many of the slowest files the report names. */
const slowestCount = 10
/**
 * How many further files run concurrently, in addition to one per processor. The tests that guard every change wait half of
 * their time. Tests of the second tier start their own services, workers and browsers, and miss deadlines if more of them share
 * the processors.
 */
const waitingCount = given.some((one) => /^--(?:all|rest)$/.test(one)) ? 0 : 3
/** How many failed files run again with --again: more have a common cause. */
const againMax = 3
/** How much memory must be free for the temporary files to be in it. */
const memoryBytesMin = 8 * 2 ** 30
/** Files that need a process to themselves, and why. */
const alone = new Map([['test/statement-types.test.ts', 'it sees the statements as their modules load']])
/** Compile cache of Node, shared by all processes of the tests, and by the next run. */
const compiled = join(root, 'node_modules', '.cache', 'penstock-tests')
const template = `penstock_test_${randomBytes(4).toString('hex')}`

/** Action of a signal: the first one is passed to the tests, a second one kills them. */
let signalTests = (_signal: NodeJS.Signals) => {}
let signalled: NodeJS.Signals | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    signalTests(signalled ? 'SIGKILL' : signal)
    signalled ??= signal
  })
}

const selections = given.filter((one) => !one.startsWith('--'))
const changed = given.find((one) => /^--changed(?:=|$)/.test(one))
const isUnrecorded = given.includes('--unrecorded')
const record = given.find((one) => /^--record(?:=missing)?$/.test(one))
/** Time limit of the run, in seconds. */
const runSeconds = secondsOf(given.find((one) => one.startsWith('--minutes=')))
const flags = given.filter(
  (one) =>
    one.startsWith('--') &&
    one !== changed &&
    !/^--(?:all|rest|record(?:=missing)?|unrecorded|list|again|minutes=.*)$/.test(one),
)
/** The tier that runs completely. Undefined if only some files run. */
const tier: Tier | undefined = selections.length > 0 || changed || isUnrecorded ? undefined : tierOf(given)
/** Whether tests with the option `large` are skipped. */
const skipsLarge = tier === 'guard' || (changed !== undefined && !given.includes('--all'))
function secondsOf(flag: string | undefined): number | undefined {
  if (flag === undefined) return undefined
  const minutes = Number(flag.split('=')[1])
  if (minutes > 0) return minutes * 60
  console.error('--minutes takes a number above 0.')
  process.exit(1)
}

function tierOf(flagged: readonly string[]): Tier {
  if (flagged.includes('--rest')) return 'rest'
  return flagged.includes('--all') ? 'all' : 'guard'
}

async function main(): Promise<number> {
  const files = selectFiles()
  if (files.length === 0) {
    if (changed) console.error('The changes affect no test.')
    else if (isUnrecorded) console.error('All test files are recorded.')
    else console.error(`No test file matches ${selections.join(' ')}. Name a file, a glob or a part of a path.`)
    return changed || isUnrecorded ? 0 : 1
  }
  if (given.includes('--list')) {
    console.log(listOf(files))
    return 0
  }
  if (fileSeconds !== undefined && !(fileSeconds > 0)) {
    console.error('PENSTOCK_TEST_FILE_SECONDS takes a number of seconds above 0.')
    return 1
  }
  hiddenPrograms()
  if (files.some((file) => file.includes('console'))) await buildConsole()
  const directory = await mkdtemp(join(await temporaryParent(), 'penstock-test-'))
  // The user who runs PostgreSQL, and the less privileged ones of some tests, must be able to pass through.
  await chmod(directory, 0o711)
  try {
    const serverUrl = process.env[serverVariable]
    return await (serverUrl ? runOnGivenServer(serverUrl, files, directory) : runOnOwnServer(files, directory))
  } finally {
    await removeAll(directory)
  }
}

/**
 * The folder for temporary files of the run, including the PostgreSQL clusters. It is in memory if Linux has enough memory and
 * TMPDIR names no other place. Thousands of databases are created and dropped. On a disk, the file system takes a tenth of the
 * processors for that, mostly to find inodes that were not deleted seconds ago (`recently_deleted` of ext4).
 */
async function temporaryParent(): Promise<string> {
  const memory = '/dev/shm'
  if (process.env.TMPDIR) return tmpdir()
  try {
    const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '))
    const [, , type, options = ''] = mounts.find(([, path]) => path === memory) ?? []
    // Tests start programs that they have written.
    if (type !== 'tmpfs' || options.split(',').includes('noexec')) return tmpdir()
    await access(memory, constantsOfFiles.W_OK)
    const { bavail, bsize } = await statfs(memory)
    // Also where a container allows less than the machine has.
    const bytes = Math.min(bavail * bsize, process.availableMemory())
    return bytes >= memoryBytesMin ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** The connectors that large tests of all connectors try, by their slugs. Undefined means all. */
let connectors: readonly string[] | undefined

/** The test files of the tier, of the changes, or of the selections. */
function selectFiles(): string[] {
  const all = testFiles()
  if (changed) return testsOfChanges(changed.split('=')[1] || 'HEAD')
  if (isUnrecorded) return all.filter((file) => !isRecorded(file))
  if (tier === 'rest') return all.filter((file) => isLarge(file) || hasLargeTests(file))
  if (tier) return tier === 'all' ? all : all.filter((file) => !isLarge(file))
  const isFile = (path: string) => path.endsWith('.ts') && existsSync(join(root, path))
  const found = selections.flatMap((selection) =>
    isFile(selection) ? selection : all.filter((file) => file.includes(selection) || matchesGlob(file, selection)),
  )
  return [...new Set(found)]
}

/** The tests that the changes since a commit can affect. Says how many others only --all runs. */
function testsOfChanges(since: string): string[] {
  const changes = changedSince(since)
  const affected = testsAffectedBy(changes)
  if (given.includes('--all')) return affected
  const files = affected.filter((file) => runsWithChanges(file, changes))
  connectors = connectorsToTry(changes)
  const left = affected.length - files.length
  if (left > 0)
    console.error(`The changes can affect ${left} more files with large tests: --changed --all runs them too.`)
  return files
}

async function runOnOwnServer(files: string[], directory: string): Promise<number> {
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    durable: false,
    settings: { max_connections: '300' },
  })
  try {
    // Tests look for it on its port, and put proxies in front of that. Services use its socket, which costs less.
    const url = new URL(server.url)
    const socket = url.searchParams.get('host')
    url.search = ''
    if (socket) process.env[socketVariable] = socket
    return await runOnServer(url.href, files, directory)
  } finally {
    await server.stop()
  }
}

async function runOnGivenServer(serverUrl: string, files: string[], directory: string): Promise<number> {
  try {
    return await runOnServer(serverUrl, files, directory)
  } finally {
    await dropDatabases(serverUrl)
  }
}

async function runOnServer(serverUrl: string, files: string[], directory: string): Promise<number> {
  await execute(serverUrl, `create database ${template}`)
  await migrate(databaseUrl(serverUrl, template))
  // A template that someone is connected to cannot be cloned.
  await execute(serverUrl, `alter database ${template} allow_connections false`)
  const env = {
    ...process.env,
    TMPDIR: directory,
    NODE_COMPILE_CACHE: compiled,
    [serverVariable]: serverUrl,
    [templateVariable]: template,
    ...(connectors && { [connectorsVariable]: connectors.join(',') }),
    ...(skipsLarge ? { [tierVariable]: 'guard' } : tier && { [tierVariable]: tier }),
  }
  compileForRunners(directory, env)
  if (signalled) return 128 + constants.signals[signalled]
  const lanes = new Set<number>()
  signalTests = (signal) => {
    for (const pid of lanes) {
      try {
        process.kill(-pid, signal)
      } catch {
        lanes.delete(pid)
      }
    }
  }
  const durations = readDurations().seconds
  const options = {
    root,
    count: availableParallelism() + waitingCount,
    isAlone: (file: string) => alone.has(file),
    mayStart: () => !signalled,
    fileSeconds: (file: string) =>
      fileSeconds ??
      Math.min(
        timeLimit.secondsMax,
        Math.max(timeLimit.secondsMin, Math.ceil(timeLimit.times * (durations[file] ?? timeLimit.secondsMax))),
      ),
    env,
    flags,
    onLane: ({ pid }: ChildProcess) => void (pid !== undefined && lanes.add(pid)),
  }
  const { isPassed, ended, left } = await runInLanes({
    ...options,
    files: runSeconds === undefined ? longestFirst(files, durations) : inRandomOrder(files),
    mayStart: (file, ended) => {
      if (signalled) return false
      if (runSeconds === undefined) return true
      return performance.now() / 1000 + (durations[file] ?? 0) * slownessOf(ended, durations) <= runSeconds
    },
  })
  console.error(slowestOf(ended))
  if (left.length > 0) console.error(`There was no time for ${left.length} files: ${left.toSorted().join(', ')}.`)
  if (record) recordDurations(ended, { skipsLarge, isMissingOnly: record.endsWith('=missing') })
  const missing = ended.filter(({ file }) => !isRecorded(file)).map(({ file }) => file)
  if (missing.length > 0)
    console.error(`Not recorded in test/durations.json (--record=missing): ${missing.join(', ')}.`)
  if (signalled) return 128 + constants.signals[signalled]
  if (isPassed) return 0
  const failed = ended.filter((one) => !one.isPassed).map(({ file }) => file)
  if (!given.includes('--again') || failed.length > againMax) return 1
  console.error(`Running again, alone: ${failed.join(', ')}.`)
  const again = await runInLanes({ ...options, files: failed, count: 1 })
  if (again.isPassed) console.error(`Failed beside others and passed alone: ${failed.join(', ')}.`)
  return again.isPassed ? 0 : 1
}

/** By which factor the ended files were slower than recorded. At least 1. */
function slownessOf(ended: readonly EndedFile[], durations: Readonly<Record<string, number>>): number {
  const known = ended.filter(({ file }) => durations[file])
  const sumOf = (secondsOf: (one: EndedFile) => number) => known.reduce((sum, one) => sum + secondsOf(one), 0)
  return Math.max(1, sumOf(({ seconds }) => seconds) / (sumOf(({ file }) => durations[file] ?? 0) || 1))
}

/**
 * Has what runners load compiled, as a service does when it starts. If root runs the tests, runners are another user, who looks
 * for it in a folder of this run. A copy is kept for the next run.
 */
function compileForRunners(directory: string, env: NodeJS.ProcessEnv): void {
  const program = join(root, 'packages/engine/src/compile.ts')
  const { user } = findRunnerUser({ runnerUser: undefined, localFolders: [] })
  if (!user) return void spawnSync(process.execPath, [program], { env })
  const folder = join(directory, `penstock-compiled-${user.uid}`)
  const kept = `${compiled}-runners`
  const copy = (from: string, to: string) => spawnSync('cp', ['-a', '-T', from, to])
  if (existsSync(kept)) copy(kept, folder)
  else {
    mkdirSync(folder, { mode: 0o700 })
    chownSync(folder, user.uid, user.gid)
  }
  const version = versionIn(folder)
  spawnSync(process.execPath, [program], { ...user, cwd: '/', env: { ...env, NODE_COMPILE_CACHE: folder } })
  if (versionIn(folder) === version) return
  rmSync(kept, { recursive: true, force: true })
  copy(folder, kept)
}

/** The version of the code that was compiled, and when. */
const versionIn = (folder: string) => statSync(join(folder, 'runners'), { throwIfNoEntry: false })?.mtimeMs

/** A different order in each run, so that it is not always the same file that there is no time for. */
function inRandomOrder(files: readonly string[]): string[] {
  return files
    .map((file) => ({ file, at: randomInt(2 ** 32) }))
    .sort((a, b) => a.at - b.at)
    .map(({ file }) => file)
}

/** The files, with those first that take long. */
function longestFirst(files: readonly string[], durations: Readonly<Record<string, number>>): string[] {
  return [...files].sort((a, b) => (durations[b] ?? 0) - (durations[a] ?? 0))
}

/** A line for each of the files that took longest. */
function slowestOf(ended: readonly EndedFile[]): string {
  const slowest = [...ended].sort((a, b) => b.seconds - a.seconds).slice(0, slowestCount)
  const columns = (seconds: number, processorSeconds: number, file: string) =>
    `${seconds.toFixed(1).padStart(8)} s ${processorSeconds.toFixed(1).padStart(10)} s  ${file}`
  const lines = slowest.map(({ file, seconds, processorSeconds }) => columns(seconds, processorSeconds, file))
  const sumOf = (key: 'seconds' | 'processorSeconds') => ended.reduce((sum, one) => sum + one[key], 0)
  return [
    'The slowest files:',
    '      time    processor',
    ...lines,
    columns(sumOf('seconds'), sumOf('processorSeconds'), 'all files'),
  ].join('\n')
}

/** Drops the template and the clones that test files have left. */
async function dropDatabases(serverUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl, application_name: 'penstock test' })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [template],
    )
    for (const { name } of rows) await client.query(`drop database if exists ${name} with (force)`)
  } finally {
    await client.end()
  }
}

/** Removes our temporary directory and every embedded PostgreSQL in it, including those of interrupted tests. */
async function removeAll(directory: string): Promise<void> {
  const locks = globSync('**/lock', { cwd: directory, exclude: (path) => path.endsWith('data') })
  for (const path of locks) await removeEmbeddedPostgres(join(directory, dirname(path)))
  await rm(directory, { recursive: true, force: true, maxRetries: 10 })
}

process.exitCode = await main()
if (tier && !given.includes('--list'))
  console.error(`Processor time of the tier '${tier}': ${processorSeconds().toFixed(0)} s.`)
