import { programsIn } from '@penstock/connectors/installed'
import { type Config, ConfigError, readConfig } from '../config.ts'
import { installedConnectors, readKept } from '../connectors/definitions.ts'
import { describeMissing } from '../connectors/missing.ts'
import { checkDatabase, readServerFacts } from '../db/readiness.ts'
import { describeEgress } from '../egress-settings.ts'
import { createLogger } from '../log.ts'
import { asTyped } from '../own-command.ts'
import { runnerOptions } from '../runners/options.ts'
import { describeWall, findProgramWall } from '../runners/program-wall.ts'
import { createRunnerPool } from '../runners/runner-pool.ts'
import { whyRunnersCannotRead } from '../runners/runner-user.ts'
import { findSealingKeyId, readKeyring } from '../secrets/keyring.ts'
import { describePause } from '../transfers/restored.ts'
import { checkListening, checkPublicUrl } from './doctor/address.ts'
import { bounded, type Check, type Finding, problem, warning, well } from './doctor/check.ts'
import { checkCertificates, checkDisk, checkTemporary, describeKeyFile, whyNoConnectorsFolder } from './doctor/files.ts'
import { checkIdentity } from './doctor/identity.ts'
import { checkMail } from './doctor/mail.ts'
import { checkReplica } from './doctor/replica.ts'
import { checkSecretManagers } from './doctor/secret-managers.ts'
import { describeServer } from './doctor/server.ts'
import { checkTelemetry } from './doctor/telemetry.ts'
import { checkClock, checkSignIn, checkWorkers } from './doctor/work.ts'
import { withFreePort } from './port.ts'
import { print } from './print.ts'
import { type CommandRuntime, CommandRuntimeError, openRuntime, sayDatabase } from './runtime.ts'
import { findWarnings } from './warnings.ts'

const runnerStartMs = 30_000
/** Longer than each manager may take. */
const managersMs = 15_000
const unreadable = 'It cannot be checked until the database answers and is migrated.'

/** The names of the checks, in their order. Names stay: programs read them with `--json`. */
export const checkNames = [
  'settings',
  'egress',
  'database',
  'migrations',
  'master key',
  'connectors',
  'schedules',
  'workers',
  'replica',
  'clock',
  'sign-in',
  'identity',
  'runners',
  'disk',
  'temporary',
  'TLS files',
  'mail',
  'telemetry',
  'secret managers',
  'listening',
  'public URL',
] as const

/**
 * `penstock doctor`: checks everything that a start needs, and says what to do about each problem.
 * @returns whether all checks succeeded, and if not, whether the settings are invalid
 */
export async function doctor(
  env: NodeJS.ProcessEnv,
  { json }: { json?: boolean },
): Promise<'well' | 'unwell' | 'bad settings'> {
  const found = await examine(env)
  const checks = found.map((check) => ({ ...check, message: asTyped(check.message) }))
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
    ...[...warnings, ...proxyWarnings(settled)].map((text) => ({ name: 'settings', ...warning(text) })),
  ]
  const egress = { name: 'egress', ok: true, message: describeEgressOf(settled) }
  // These need no database, and run while it is opened.
  const outside = checkOutside(settled, config)
  let runtime: CommandRuntime
  try {
    runtime = await openRuntime(config, createLogger('silent'))
  } catch (error) {
    const name = error instanceof CommandRuntimeError ? error.part : 'database'
    return [...settings, egress, { name, ok: false, message: (error as Error).message }, ...(await outside)]
  }
  try {
    sayDatabase(runtime)
    const { database } = runtime
    const needingDatabase = Promise.all([
      bounded('database', () => checkServer(runtime)),
      bounded('migrations', () => checkMigrations(runtime)),
      bounded('master key', () => checkMasterKey(runtime, config)),
      bounded('connectors', () => checkConnectors(runtime, settled, config)),
      bounded('schedules', () => checkSchedules(runtime)),
      bounded('workers', () => readable(checkWorkers(database, config))),
      bounded('replica', () => checkReplica(database, config)),
      bounded('clock', () => checkClock(database)),
      bounded('sign-in', () => readable(checkSignIn(database, config))),
      bounded('identity', () => readable(checkIdentity(database, config))),
    ])
    return [...settings, egress, ...(await needingDatabase), ...(await outside)]
  } finally {
    await runtime.close()
  }
}

/** Proxy variables of other programs, which an operator could expect to work here. */
const proxyWarnings = (env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env)
    .filter((name) => /^https?_proxy$/i.test(name) && env[name])
    .map(
      (name) =>
        `${name} has no effect on connectors: Penstock connects directly. Let this machine reach platforms without a proxy.`,
    )

/** Checks of the servers, files and addresses that settings name, without the database. */
const checkOutside = (env: NodeJS.ProcessEnv, config: Config): Promise<Check[]> =>
  Promise.all([
    bounded('runners', () => checkRunners(config), runnerStartMs + 5_000),
    bounded('disk', () => checkDisk(config)),
    bounded('temporary', checkTemporary),
    bounded('TLS files', () => checkCertificates(env, config)),
    bounded('mail', () => checkMail(config)),
    bounded('telemetry', () => checkTelemetry(env, config)),
    bounded('secret managers', () => checkSecretManagers(config), managersMs),
    bounded('listening', async () => checkListening(config)),
    bounded('public URL', () => checkPublicUrl(env, config)),
  ])

/** A check of the database that has no tables yet. */
const readable = (check: Promise<Finding>): Promise<Finding> => check.catch(() => problem(unreadable))

/** Of the service, and of a dedicated worker if its policy differs. */
function describeEgressOf(env: NodeJS.ProcessEnv): string {
  const [serve, worker] = [true, false].map((listens) => describeEgress(readConfig(env, { listens }).egress))
  return serve === worker ? `${serve}` : `serve: ${serve} worker: ${worker}`
}

async function checkServer({ database }: CommandRuntime): Promise<Finding> {
  try {
    return describeServer(await readServerFacts(database))
  } catch {
    return problem('It does not answer: check DATABASE_URL, and that the server is running and accepts this user.')
  }
}

async function checkMigrations({ database }: CommandRuntime): Promise<Finding> {
  const found = await checkDatabase(database)
  return found ? problem(found) : well('current')
}

async function checkMasterKey({ database, masterKey }: CommandRuntime, config: Config): Promise<Finding> {
  try {
    if ((await findSealingKeyId(database)) === undefined)
      return (await checkDatabase(database))
        ? problem(unreadable)
        : well(`the database has no key yet; its first start makes ${masterKey.id} its key`)
    await readKeyring(database, masterKey)
    return well(`key ${masterKey.id} opens this database's secrets${await describeKeyFile(config)}`)
  } catch (error) {
    const known = error instanceof Error && error.name === 'MasterKeyMismatch'
    return problem(known ? error.message : unreadable)
  }
}

/** The connectors in the database, and the connectors that the operator added to this machine. */
async function checkConnectors({ database }: CommandRuntime, env: NodeJS.ProcessEnv, config: Config): Promise<Finding> {
  const missing = await whyNoConnectorsFolder(env, config)
  const installed = installedConnectors(config)
  const added = installed.connectors.map(({ record }) => `${record.slug} ${record.package.version}`)
  const wall = findProgramWall(config)
  const all = `this version knows all that the database holds${added.length > 0 ? `; added here: ${added.join(', ')}` : ''}; ${describeWall(wall)}`
  try {
    const { kept, problems: unusable } = await readKept(database)
    const lacking = await describeMissing(database, { config, installed, kept })
    const unreadable = added.length > 0 ? whyRunnersCannotRead(config, config.connectorsFolder) : undefined
    const off = wall.kind === 'off' && programsIn(config.connectorsFolder).length > 0 ? wall.why : undefined
    const problems = [missing, ...unusable, ...lacking, unreadable, off].filter((one) => one !== undefined)
    return problems.length === 0 ? well(all) : problem(problems.join(' '))
  } catch {
    return problem(unreadable)
  }
}

/** A pause is not an error: an operator or a restore paused schedules. */
async function checkSchedules({ database }: CommandRuntime): Promise<Finding> {
  try {
    const pause = await describePause(database)
    return pause ? warning(pause) : well('not paused')
  } catch {
    return problem(unreadable)
  }
}

/** Whether a process for the code of connectors starts and answers. */
async function checkRunners(config: Config): Promise<Finding> {
  const pool = createRunnerPool({ ...runnerOptions(config), spare: false }, createLogger('silent'))
  const { transfers, interactive, runnerMemoryMb } = config
  try {
    const signal = new AbortController().signal
    const watch = { deadlineMs: runnerStartMs }
    const result = await pool.run({ kind: 'ping' }, { owner: 'doctor', watch, signal })
    if (!result.ok) throw new Error('It did not answer the ping')
    return well(
      `a runner starts and answers; at most ${transfers.atOnce + interactive.atOnce} run concurrently, with up to ${runnerMemoryMb} MiB each`,
    )
  } catch {
    return problem(
      `None starts within ${runnerStartMs / 1000} seconds: check that this machine lets Penstock start processes, and that memory is free.`,
    )
  } finally {
    await pool.close()
  }
}
