/**
 * The test runner: `npm test -- [file, pattern or part of a path ...] [--flags of node --test]`.
 * It brings up a PostgreSQL with a migrated template database, unless PENSTOCK_TEST_DATABASE_URL names a server, runs the
 * tests on it, and leaves nothing behind. A file that has not ended after PENSTOCK_TEST_FILE_SECONDS, 1,200 by default, is
 * killed and fails. PENSTOCK_TEST_HIDE names installed programs that the tests must do without, as on a machine that has
 * none of them: `PENSTOCK_TEST_HIDE=chromium,mariadbd,sshd`.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { constants as constantsOfFiles, existsSync, globSync } from 'node:fs'
import { access, chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { availableParallelism, constants, tmpdir } from 'node:os'
import { dirname, join, matchesGlob, relative } from 'node:path'
import pg from 'pg'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../packages/server/src/embedded/embedded-postgres.ts'
import { buildConsole } from './harness/built-console.ts'
import { databaseUrl, execute, serverVariable, templateVariable } from './harness/database.ts'
import { enforceFileDeadline, type FileDeadline, filesSocketVariable } from './harness/file-deadline.ts'
import { hiddenPrograms } from './harness/programs.ts'

const root = dirname(import.meta.dirname)
/** How long a test file may take. */
const fileSeconds = Number(process.env.PENSTOCK_TEST_FILE_SECONDS || 1200)
/** How many of the slowest files the report names. */
const slowestCount = 10
/** How many files run at once beside one for each processor: half of their time they wait. */
const waitingCount = 3
/** How much memory must be free for the temporary files to be in it. */
const memoryBytesMin = 8 * 2 ** 30
/** Files that take long, the longest first: one that began last would keep the whole run waiting. */
const long = [
  ...[
    'test/rubbish',
    'test/console-connection',
    'test/backup',
    'packages/connectors/src/databases/rogue-warehouses',
    'test/bulkheads',
  ],
  ...[
    'test/transfers-errors',
    'test/console-screens',
    'test/console-first-connection',
    'test/console-new-connection',
    'test/console-transfer',
  ],
  ...['test/transfers-crash', 'test/console-connectors', 'test/commands', 'test/outage', 'test/outage-of-processes'],
  ...['packages/connectors/src/google-cloud-storage/google-cloud-storage', 'test/console'],
  ...['packages/connectors/src/https-file/https-file', 'packages/connectors/src/amazon-s3/amazon-s3', 'test/serve'],
  ...['test/commands-databases', 'packages/connectors/src/postgresql/values', 'test/crash', 'test/embedded'],
]
/** What Node has compiled, once for all the processes of the tests, and for the next run. */
const compiled = join(root, 'node_modules', '.cache', 'penstock-tests')
const runFiles = join(root, 'test/harness/run-files.ts')
const reportFile = new URL('harness/report-file.ts', import.meta.url).href
const template = `penstock_test_${randomBytes(4).toString('hex')}`

/** What a signal does: the first one is handed on to the tests, a second one kills them. */
let signalTests = (_signal: NodeJS.Signals) => {}
let signalled: NodeJS.Signals | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    signalTests(signalled ? 'SIGKILL' : signal)
    signalled ??= signal
  })
}

const selections = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'))
process.exitCode = await main()

async function main(): Promise<number> {
  const files = selectFiles()
  if (files.length === 0) {
    console.error(`No test file matches ${selections.join(' ')}. Name a file, a glob or a part of a path.`)
    return 1
  }
  if (!(fileSeconds > 0)) {
    console.error('PENSTOCK_TEST_FILE_SECONDS takes a number of seconds above 0.')
    return 1
  }
  hiddenPrograms()
  if (files.some((file) => file.includes('console'))) await buildConsole()
  const directory = await mkdtemp(join(await temporaryParent(), 'penstock-test-'))
  // The user who runs PostgreSQL, and the less privileged ones of some tests, must be able to pass through.
  await chmod(directory, 0o711)
  try {
    const given = process.env[serverVariable]
    return await (given ? runOnGivenServer(given, files, directory) : runOnOwnServer(files, directory))
  } finally {
    await removeAll(directory)
  }
}

/**
 * Where the temporary files of the run go, the clusters of PostgreSQL among them: memory, where Linux has enough of it and
 * TMPDIR names no other place. Thousands of databases are created and dropped, for which a file system on disk takes a tenth
 * of the processors, most of it to find inodes that were not deleted seconds ago (`recently_deleted` of ext4).
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

/** The test files of the selections in the arguments, all of them where there is none. */
function selectFiles(): string[] {
  const all = globSync(['test/**/*.test.ts', 'packages/*/src/**/*.test.ts'], { cwd: root }).sort()
  if (selections.length === 0) return all
  const isFile = (path: string) => path.endsWith('.ts') && existsSync(join(root, path))
  const found = selections.flatMap((selection) =>
    isFile(selection) ? selection : all.filter((file) => file.includes(selection) || matchesGlob(file, selection)),
  )
  return [...new Set(found)]
}

async function runOnOwnServer(files: string[], directory: string): Promise<number> {
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    durable: false,
    settings: { max_connections: '300' },
  })
  try {
    // By its port, in which tests look for it, and before which they put proxies.
    const url = new URL(server.url)
    url.search = ''
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
  const socket = join(directory, 'files')
  const deadline = await enforceFileDeadline(socket, fileSeconds, (file) => relative(root, file))
  const env = {
    ...{ ...process.env, TMPDIR: directory, NODE_COMPILE_CACHE: compiled },
    ...{ [serverVariable]: serverUrl, [templateVariable]: template, [filesSocketVariable]: socket },
  }
  try {
    const code = await runTests(files, env)
    if (files.length > slowestCount) console.error(slowestOf(deadline.ended))
    // Again, below the report of thousands of tests.
    for (const sentence of deadline.killed) console.error(sentence)
    return deadline.killed.length > 0 ? code || 1 : code
  } finally {
    deadline.close()
  }
}

async function runTests(files: string[], env: NodeJS.ProcessEnv): Promise<number> {
  if (signalled) return 128 + constants.signals[signalled]
  const atOnce = String(availableParallelism() + waitingCount)
  const preferred = ['--test-reporter=spec', `--test-concurrency=${atOnce}`]
  const missing = preferred.filter((flag) => !flags.some((given) => given.split('=')[0] === flag.split('=')[0]))
  const program = flags.length > 0 ? ['--test', ...missing, ...flags] : [runFiles, atOnce]
  // The tests are a process group of their own, so that a signal reaches each of them, and once.
  const tests = spawn(process.execPath, ['--import', reportFile, ...program, ...longestFirst(files)], {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const { pid } = tests
  signalTests = (signal) => {
    try {
      if (pid !== undefined) process.kill(-pid, signal)
    } catch {
      // The whole group has ended.
    }
  }
  const [code] = await once(tests, 'exit')
  signalTests('SIGKILL')
  if (signalled) return 128 + constants.signals[signalled]
  return typeof code === 'number' ? code : 1
}

/** The files, with those first that take long. */
function longestFirst(files: readonly string[]): string[] {
  const rankOf = (file: string) => {
    const rank = long.indexOf(file.replace(/\.test\.ts$/, ''))
    return rank < 0 ? long.length : rank
  }
  return [...files].sort((a, b) => rankOf(a) - rankOf(b))
}

/** A line for each of the files that took longest. */
function slowestOf(ended: FileDeadline['ended']): string {
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

/** Removes our temporary directory and every embedded PostgreSQL in it, those of interrupted tests too. */
async function removeAll(directory: string): Promise<void> {
  const locks = globSync('**/lock', { cwd: directory, exclude: (path) => path.endsWith('data') })
  for (const path of locks) await removeEmbeddedPostgres(join(directory, dirname(path)))
  await rm(directory, { recursive: true, force: true, maxRetries: 10 })
}
