import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ownFolderIn } from '../config.ts'
import type { DatabaseUrl } from '../db/addresses.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { isFull } from '../db/errors.ts'
import { describeDatabase, explainFailure } from '../db/failures.ts'
import { idleTransactionMs } from '../db/liveness.ts'
import { MigrationError, migrate } from '../db/migrate.ts'
import { isPooledByTransaction, isSameDatabase } from '../db/pooler.ts'
import { readServerFacts } from '../db/readiness.ts'
import { hasEmbeddedPostgres, startEmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import type { Logger } from '../log.ts'
import { findSealingKeyId } from '../secrets/keyring.ts'
import { generateMasterKey, type MasterKey, parseMasterKey } from '../secrets/seal.ts'

/** Resources of every command: the data directory, the database in it or elsewhere, and the master key. */
export type CommandRuntime = {
  /** A direct address of the database, for notices, migrations and everything else that needs its own session. */
  readonly databaseUrl: DatabaseUrl
  /** Name of the database for the operator: its address without the password, and whether it is embedded. */
  readonly databaseName: string
  readonly database: Database
  readonly masterKey: MasterKey
  /** Closes the database. An embedded database stops unless another process uses it. */
  close(): Promise<void>
}

/** A part of the runtime that cannot be used. The message says what to do. */
export class CommandRuntimeError extends Error {
  readonly part: 'data files' | 'database' | 'master key'
  /** Whether the database has no free connection, so that a retry can succeed. */
  readonly isFull: boolean
  constructor(part: CommandRuntimeError['part'], message: string, isFull = false) {
    super(message)
    this.part = part
    this.isFull = isFull
  }
}

export const masterKeyFile = (config: Config) => join(config.dataDirectory, 'master.key')
/**
 * Where a rotation keeps the key that it replaces. The file is named after the key, so that no key ever overwrites another key.
 */
export const previousKeyFile = (config: Config, { id }: MasterKey) => join(config.dataDirectory, `master.${id}.key`)
export const credentialsFile = (config: Config) => join(config.dataDirectory, 'credentials.json')
const directSetting = 'PENSTOCK_DATABASE_DIRECT_URL'
const postgresDirectory = (config: Config) => join(config.dataDirectory, 'postgres')

/** Resources that the command can create if they are missing. `serve` creates all. */
export type Creation = {
  /** The embedded database. */
  readonly database: boolean
  /** The file with the master key. */
  readonly masterKey: boolean
}

/**
 * Opens the configured database: starts the embedded one, or joins it if it is running already.
 * @throws CommandRuntimeError if something cannot be used, or is missing and must not be created
 */
export async function openRuntime(
  config: Config,
  log: Logger,
  may: Creation = { database: false, masterKey: false },
): Promise<CommandRuntime> {
  if (!config.databaseUrl && !may.database) await requireEmbedded(config)
  // A key that cannot be used is found before anything is started.
  const keptKey = await readMasterKey(config)
  if (!config.databaseUrl) await makeDataDirectory(config)
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbeddedPostgres({
        directory: postgresDirectory(config),
        log: (message) => log.info({ message }, 'postgresql'),
      })
  // If its port is used by another program when it starts again, the embedded server uses a different port.
  const databaseUrl = config.databaseUrl ?? (() => embedded?.url ?? '')
  const database = openDatabase({
    url: databaseUrl,
    poolerUrl: config.poolerUrl,
    poolSize: config.databasePoolSize,
    idleTransactionMs: idleTransactionMs(config),
    onIdleError: (err) => log.warn({ err }, 'a database connection broke'),
  })
  const close = async () => {
    await database.close()
    await embedded?.stop()
  }
  try {
    await assertConnectivity(database, config)
    // Its port is where any program can reach it.
    const [byPort = ''] = embedded?.url.split('?') ?? []
    const databaseName = embedded
      ? `${describeDatabase(byPort)}, embedded in ${config.dataDirectory}`
      : describeDatabase(databaseUrl) + (config.poolerUrl ? `, through ${describeDatabase(config.poolerUrl)}` : '')
    const masterKey = keptKey ?? (await makeFirstKey(config, database, may.masterKey))
    return { databaseUrl, databaseName, database, masterKey, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Opens the database for one command, says on standard error which it is, and closes it when the work is done.
 * @param migrates whether the schema is brought up to date before the work
 */
export async function withRuntime<T>(
  config: Config,
  log: Logger,
  work: (runtime: CommandRuntime) => Promise<T>,
  { migrates = true, may }: { migrates?: boolean; may?: Creation } = {},
): Promise<T> {
  const runtime = await openRuntime(config, log, may)
  try {
    sayDatabase(runtime)
    if (migrates) await applyMigrations(runtime)
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

/** Standard output contains only the result of a command. */
export const sayDatabase = ({ databaseName }: CommandRuntime): void =>
  void process.stderr.write(`Database: ${databaseName}\n`)

/** Fails, with what to do, where the database cannot be used at all. */
async function assertConnectivity(database: Database, { databaseUrl, poolerUrl }: Config): Promise<void> {
  const setting = poolerUrl === undefined ? 'DATABASE_URL' : directSetting
  // Before a statement is prepared by name, which a pooler would keep for others.
  if (databaseUrl && (await explained(databaseUrl, setting, () => isPooledByTransaction(databaseUrl)))) {
    throw new CommandRuntimeError(
      'database',
      poolerUrl === undefined
        ? `DATABASE_URL is the address of a pooler in transaction mode, in which notices and locks are lost. Set ${directSetting} to the address of PostgreSQL itself as well, or the pooler to session mode (pool_mode = session).`
        : `${directSetting} is the address of a pooler in transaction mode. Set it to the address of PostgreSQL itself.`,
    )
  }
  await explained(poolerUrl ?? databaseUrl, 'DATABASE_URL', () => readServerFacts(database))
  if (!databaseUrl || poolerUrl === undefined) return
  if (!(await explained(databaseUrl, setting, () => isSameDatabase(database, databaseUrl)))) {
    throw new CommandRuntimeError(
      'database',
      `DATABASE_URL and ${directSetting} lead to different databases. Set both to the same one: the first through the pooler, the second without it.`,
    )
  }
}

/** Uses the database. A failure names the setting that leads to the database, and says what to do. */
async function explained<T>(url: string | undefined, setting: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const message = (url && explainFailure(error, url, setting)) ?? (error as Error).message
    throw new CommandRuntimeError('database', message, isFull(error))
  }
}

/** Brings the schema up to date. Fails, with what to do, where the database does not let the role do so. */
export async function applyMigrations({ databaseUrl }: Pick<CommandRuntime, 'databaseUrl'>): Promise<void> {
  try {
    await migrate(databaseUrl)
  } catch (error) {
    const explained = error instanceof MigrationError ? error.message : explainFailure(error, databaseUrl)
    throw explained === undefined ? error : new CommandRuntimeError('database', explained, isFull(error))
  }
}

/** Whether the data directory has the embedded database. */
export const hasDatabase = (config: Config): Promise<boolean> => hasEmbeddedPostgres(postgresDirectory(config))

async function requireEmbedded(config: Config): Promise<void> {
  if (await hasDatabase(config)) return
  throw new CommandRuntimeError(
    'database',
    `There is no database in ${config.dataDirectory} yet. Start the service once, set DATABASE_URL to your own PostgreSQL, or set PENSTOCK_DATA_DIR to a directory with a database.`,
  )
}

/** Creates the folder that connectors can use without a setting, if this deployment uses that folder. */
export async function makeOwnFolder(config: Config): Promise<void> {
  const folder = ownFolderIn(config.dataDirectory)
  if (!config.localFolders.includes(folder)) return
  await makeDataDirectory(config)
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/**
 * Only the user who created the directory decides its mode: other users cannot list it, but the embedded server can pass
 * through.
 */
export async function makeDataDirectory(config: Config): Promise<void> {
  try {
    const made = await mkdir(config.dataDirectory, { recursive: true })
    if (made !== undefined) await chmod(config.dataDirectory, config.databaseUrl ? 0o700 : 0o711)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandRuntimeError(
      'data files',
      `The data directory ${config.dataDirectory} cannot be used (${code}): check PENSTOCK_DATA_DIR, and that this user may write there.`,
    )
  }
}

/** The master key from the settings, else from the key file. Undefined if there is no key. */
async function readMasterKey(config: Config): Promise<MasterKey | undefined> {
  if (config.masterKey) return config.masterKey
  const file = masterKeyFile(config)
  const text = await usable(file, readIfThere)
  return text === undefined ? undefined : parseKey(file, text)
}

function parseKey(file: string, text: string): MasterKey {
  const key = parseMasterKey(text)
  if (key) return key
  throw new CommandRuntimeError(
    'master key',
    `${file} does not hold a master key (32 bytes in base64): restore the file from a backup.`,
  )
}

/**
 * Creates a key for a new database, if that is allowed. If the database is in use and its key is missing, no key is created,
 * since a new key could not open anything.
 */
async function makeFirstKey(config: Config, database: Database, mayMake: boolean): Promise<MasterKey> {
  const file = masterKeyFile(config)
  const keyId = await findSealingKeyId(database)
  if (keyId === undefined && mayMake) {
    return parseKey(file, await usable(file, (path) => writeNew(path, `${generateMasterKey()}\n`)))
  }
  // Another process may have created both since the file was looked for. It creates the file first.
  const made = await readMasterKey(config)
  if (made !== undefined) return made
  if (keyId === undefined) {
    const message = `The master key is missing. Restore the file ${file} from its backup, or set PENSTOCK_MASTER_KEY.`
    throw new CommandRuntimeError('master key', message)
  }
  throw new CommandRuntimeError(
    'master key',
    `${file} is missing, and the secrets of this database are sealed under its key ${keyId}. Restore the file from a backup, or set PENSTOCK_MASTER_KEY to that key. No new key was made, because it could not open them. If no copy of the key is left, see "A lost master key" in docs/operating.md.`,
  )
}

async function usable<T>(file: string, use: (file: string) => Promise<T>): Promise<T> {
  try {
    return await use(file)
  } catch (error) {
    if (error instanceof CommandRuntimeError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new CommandRuntimeError(
      'master key',
      `${file} cannot be used (${code}): make it a file that this user may read.`,
    )
  }
}

export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes a private file whole or not at all. */
export async function writePrivate(file: string, content: string): Promise<void> {
  const fresh = `${file}.${process.pid}.new`
  await writeFile(fresh, content, { mode: 0o600, flush: true })
  await rename(fresh, file)
}

/** Creates a private file. If another process was faster, returns the content of that process. */
export async function writeNew(file: string, content: string): Promise<string> {
  try {
    await writeFile(file, content, { mode: 0o600, flag: 'wx', flush: true })
    return content
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readFile(file, 'utf8')
    throw error
  }
}
