import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Binaries, findBinaries } from './binaries.ts'
import { dataName, findPlace } from './cluster-directory.ts'
import { type Owner, run } from './command.ts'
import { exists, hasCode, makeDirectory, renameDurably, writeAtomically } from './files.ts'
import { serviceName } from './session.ts'
import type { ServerChoices } from './settings.ts'

/** The data of one server on disk, and all that is needed to run the server. */
export type Cluster = ServerChoices & {
  /** the directory that holds the data, the log and the password */
  home: string
  data: string
  log: string
  owner: Owner
  binaries: Binaries
  password: string
}

/** Finds the cluster of a directory, or makes it. Call it under the directory's lock. */
export async function openCluster(directory: string, choices: ServerChoices): Promise<Cluster> {
  const { home, owner } = await findPlace(directory)
  const binaries = await findBinaries(owner)
  const data = join(home, dataName)
  const log = join(home, 'log')
  await makeDirectory(log, 0o700, owner)
  const isNew = !(await exists(data))
  const password = await readPassword(join(home, 'password'), isNew)
  const cluster = { ...choices, home, data, log, owner, binaries, password }
  await (isNew ? createData(cluster) : refuseOtherVersion(cluster))
  return cluster
}

async function readPassword(path: string, mayCreate: boolean): Promise<string> {
  try {
    const password = (await readFile(path, 'utf8')).trim()
    if (password) return password
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  if (!mayCreate) {
    throw new Error(
      `${path}, the file with the password of the embedded database, is missing. Restore it from a backup.`,
    )
  }
  const password = randomBytes(32).toString('base64url')
  await writeAtomically(path, password)
  return password
}

/**
 * Creates the data under another name and renames it when it is complete. So an interrupted attempt leaves nothing that could
 * be mistaken for a database. Each attempt has its own name, because the initdb of a killed process can still be running.
 */
async function createData({ home, data, owner, binaries, password, durable }: Cluster): Promise<void> {
  for (const name of await readdir(home)) {
    if (name.startsWith('unfinished-')) await rm(join(home, name), { recursive: true, force: true, maxRetries: 10 })
  }
  const draft = join(home, `unfinished-${randomBytes(4).toString('hex')}`)
  await makeDirectory(draft, 0o700, owner)
  const passwordFile = join(draft, 'password')
  const draftData = join(draft, 'data')
  await writeAtomically(passwordFile, `${password}\n`, join(home, 'password.draft'), owner)
  const { code, output } = await run(
    binaries.initdb,
    [
      '--pgdata',
      draftData,
      '--username',
      serviceName,
      '--pwfile',
      passwordFile,
      '--auth',
      'scram-sha-256',
      '--encoding',
      'UTF8',
      '--locale',
      'C',
      '--locale-provider',
      'builtin',
      '--builtin-locale',
      'C.UTF-8',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ],
    owner,
  )
  if (code === 0) await renameDurably(draftData, data)
  await rm(draft, { recursive: true, force: true })
  if (code === 0) return
  throw new Error(
    `PostgreSQL could not create its database in ${home}. Fix what its initdb reports, then start again:\n${output}`,
  )
}

async function refuseOtherVersion({ data, binaries }: Cluster): Promise<void> {
  const file = join(data, 'PG_VERSION')
  const version = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    (error) => {
      throw damaged(data, `its file PG_VERSION cannot be read (${(error as NodeJS.ErrnoException).code})`)
    },
  )
  if (version === binaries.majorVersion) return
  if (!/^\d{1,3}$/.test(version)) throw damaged(data, 'its file PG_VERSION does not contain a version of PostgreSQL')
  throw new Error(
    `The database in ${data} is one of PostgreSQL ${version}, and this Penstock brings PostgreSQL ${binaries.majorVersion}. Dump it with pg_dump of the earlier version, or run the earlier Penstock.`,
  )
}

/** Files of the database itself are gone or altered, which only a copy of them fixes. */
export const damaged = (data: string, what: string): Error =>
  new Error(
    `The database in ${data} is damaged: ${what}. Keep a copy of that directory, and check the disk. Then restore the directory from a copy that was made while the service was stopped, or move it away, start with an empty database and restore a backup (penstock restore). Do not run initdb there: it would begin an empty database.`,
  )
