import { statfs } from 'node:fs/promises'
import { type Config, ConfigError, readConfig } from '../config.ts'
import { createCatalogue, installedConnectors } from '../connectors/catalogue.ts'
import { findUnknownConnectors } from '../connectors/unknown.ts'
import { checkDatabase, readServerVersion } from '../db/readiness.ts'
import { describeEgress } from '../egress-settings.ts'
import { createLogger } from '../log.ts'
import { runnerOptions } from '../runners/options.ts'
import { createRunnerPool } from '../runners/runner-pool.ts'
import { whyRunnersCannotRead } from '../runners/runner-user.ts'
import { openKeyring } from '../secrets/keyring.ts'
import { describePause } from '../transfers/restored.ts'
import { withFreePort } from './port.ts'
import { print } from './print.ts'
import { type CommandRuntime, CommandRuntimeError, openRuntime, sayDatabase } from './runtime.ts'
import { findWarnings } from './warnings.ts'

const versionMin = 15
const runnerStartMs = 30_000
const freeBytesMin = 1024 ** 3
const unreadable = 'It cannot be checked until the database answers and is migrated.'

type Check = { name: string; ok: boolean; message: string }

/**
 * `penstock doctor`: checks everything that a start needs, and says what to do about each problem.
 * @returns whether all checks succeeded, and if not, whether the settings are invalid
 */
export async function doctor(
  env: NodeJS.ProcessEnv,
  { json }: { json?: boolean },
): Promise<'well' | 'unwell' | 'bad settings'> {
  const checks = await examine(env)
  const lines = checks.map(({ name, ok, message }) => `${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(11)} ${message}`)
  print(checks, json, lines.join('\n'))
  if (checks.every(({ ok }) => ok)) return 'well'
  return checks.some(({ name, ok }) => name === 'settings' && !ok) ? 'bad settings' : 'unwell'
}

async function examine(env: NodeJS.ProcessEnv): Promise<Check[]> {
  let settled: NodeJS.ProcessEnv
  let config: Config
  try {
    settled = await withFreePort(env)
    config = readConfig(settled)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.fieldErrors.map((message) => ({ name: 'settings', ok: false, message }))
  }
  const warnings = await findWarnings(env, config)
  const settings = [
    { name: 'settings', ok: true, message: `${config.publicUrl}, environment ${config.environment.name}` },
    ...warnings.map((warning) => ({ name: 'settings', ok: true, message: `warning: ${warning}` })),
  ]
  const egress = { name: 'egress', ok: true, message: describeEgressOf(settled) }
  let runtime: CommandRuntime
  try {
    runtime = await openRuntime(config, createLogger('silent'))
  } catch (error) {
    const name = error instanceof CommandRuntimeError ? error.part : 'database'
    return [...settings, egress, { name, ok: false, message: (error as Error).message }, await checkDisk(config)]
  }
  try {
    sayDatabase(runtime)
    return [
      ...settings,
      egress,
      await checkServer(runtime),
      await checkMigrations(runtime),
      await checkMasterKey(runtime),
      await checkConnectors(runtime, config),
      await checkSchedules(runtime),
      await checkRunners(config),
      await checkDisk(config),
    ]
  } finally {
    await runtime.close()
  }
}

/** Of the service, and of a dedicated worker if its policy differs. */
function describeEgressOf(env: NodeJS.ProcessEnv): string {
  const [serve, worker] = [true, false].map((listens) => describeEgress(readConfig(env, { listens }).egress))
  return serve === worker ? `${serve}` : `serve: ${serve} worker: ${worker}`
}

async function checkServer({ database }: CommandRuntime): Promise<Check> {
  const name = 'database'
  try {
    const { version, number } = await readServerVersion(database)
    const ok = number >= versionMin * 10_000
    return {
      name,
      ok,
      message: ok ? `PostgreSQL ${version}` : `PostgreSQL ${version} is too old: use ${versionMin} or newer.`,
    }
  } catch {
    return {
      name,
      ok: false,
      message: 'It does not answer: check DATABASE_URL, and that the server is running and accepts this user.',
    }
  }
}

async function checkMigrations({ database }: CommandRuntime): Promise<Check> {
  const problem = await checkDatabase(database)
  return { name: 'migrations', ok: !problem, message: problem ?? 'current' }
}

async function checkMasterKey({ database, masterKey }: CommandRuntime): Promise<Check> {
  const name = 'master key'
  try {
    await openKeyring(database, masterKey)
    return { name, ok: true, message: `key ${masterKey.id} opens this database's secrets` }
  } catch (error) {
    const known = error instanceof Error && error.name === 'MasterKeyMismatch'
    return {
      name,
      ok: false,
      message: known ? error.message : unreadable,
    }
  }
}

/** The connectors in the database, and the ones that the operator added to this machine. */
async function checkConnectors({ database }: CommandRuntime, config: Config): Promise<Check> {
  const name = 'connectors'
  const installed = installedConnectors(config)
  const added = installed.connectors.map(({ record }) => `${record.slug} ${record.package.version}`)
  const all = `this version knows all that the database holds${added.length > 0 ? `; added here: ${added.join(', ')}` : ''}`
  try {
    const unknown = await findUnknownConnectors(database, createCatalogue(config.publicUrl, installed))
    const unreadable = added.length > 0 ? whyRunnersCannotRead(config, config.connectorsFolder) : undefined
    const problems = [...installed.problems, ...[unknown, unreadable].filter((one) => one !== undefined)]
    return { name, ok: problems.length === 0, message: problems.join(' ') || all }
  } catch {
    return { name, ok: false, message: unreadable }
  }
}

/** A pause is no error: an operator asked for it, or a restore did. */
async function checkSchedules({ database }: CommandRuntime): Promise<Check> {
  const name = 'schedules'
  try {
    const pause = await describePause(database)
    return { name, ok: true, message: pause ? `warning: ${pause}` : 'not paused' }
  } catch {
    return { name, ok: false, message: unreadable }
  }
}

/** Whether a process for the code of connectors starts and answers. */
async function checkRunners(config: Config): Promise<Check> {
  const name = 'runners'
  const pool = createRunnerPool({ ...runnerOptions(config), spare: false }, createLogger('silent'))
  const { transfers, interactive, runnerMemoryMb } = config
  try {
    const signal = new AbortController().signal
    const watch = { deadlineMs: runnerStartMs }
    const result = await pool.run({ kind: 'ping' }, { owner: 'doctor', watch, signal })
    if (!result.ok) throw new Error('It did not answer the ping')
    const message = `one starts and answers; at most ${transfers.atOnce + interactive.atOnce} work at once, with up to ${runnerMemoryMb} MiB each`
    return { name, ok: true, message }
  } catch {
    const message = `None starts within ${runnerStartMs / 1000} seconds: check that this machine lets Penstock start processes, and that memory is free.`
    return { name, ok: false, message }
  } finally {
    await pool.close()
  }
}

async function checkDisk({ dataDirectory, databaseUrl }: Config): Promise<Check> {
  const name = 'disk'
  const space = await statfs(dataDirectory).catch(({ code }: NodeJS.ErrnoException) => code)
  if (space === 'ENOENT' && databaseUrl) {
    return { name, ok: true, message: `${dataDirectory} is not there, and not needed with DATABASE_URL` }
  }
  if (typeof space !== 'object')
    return { name, ok: false, message: `Nothing can be kept at ${dataDirectory}: check PENSTOCK_DATA_DIR.` }
  const { bavail, bsize } = space
  const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free at ${dataDirectory}`
  const ok = bavail * bsize >= freeBytesMin
  return { name, ok, message: ok ? free : `Only ${free}: free some space, PostgreSQL stops when the disk is full.` }
}
