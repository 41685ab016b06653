import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { recordCommand } from '../audit/record.ts'
import type { Config } from '../config.ts'
import { type Counts, dump } from '../db/backup/dump.ts'
import { BackupError, splitLines } from '../db/backup/format.ts'
import { load, readHeader } from '../db/backup/load.ts'
import { openSession } from '../db/session.ts'
import type { Logger } from '../log.ts'
import { openKeyring } from '../secrets/keyring.ts'
import { verifySecrets } from '../secrets/verify.ts'
import { endRestoredTransfers, pauseSchedules, resumeSchedules } from '../transfers/restored.ts'
import { print } from './print.ts'
import { applyMigrations, type CommandRuntime, withRuntime } from './runtime.ts'

/** `penstock backup` and `penstock restore`: the database in one file, without the master key. */

type Json = { json?: boolean }

const sumOf = (counts: Counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)
const plural = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** Writes a backup, whether or not the service is running. The file appears when it is complete. */
export async function backupCommand(config: Config, log: Logger, file: string, { json }: Json): Promise<void> {
  if (await exists(file)) throw new BackupError(`${file} already exists: use another name, or remove it first.`)
  const draft = `${file}.${process.pid}.unfinished`
  const counts: Counts = {}
  const write = async ({ databaseUrl, masterKey }: CommandRuntime) => {
    const session = await openSession(databaseUrl, 'backup')
    try {
      await pipeline(
        Readable.from(dump(session, counts), { objectMode: true }),
        createGzip(),
        createWriteStream(draft, { mode: 0o600, flush: true }),
      )
    } finally {
      await session.end()
    }
    await rename(draft, file)
    await flushDirectory(file)
    return masterKey.id
  }
  const keyId = await withRuntime(config, log, write, { migrates: false }).catch(async (error) => {
    await rm(draft, { force: true }).catch(() => {})
    const { code, syscall } = error as NodeJS.ErrnoException
    if (!code || !['open', 'write', 'fsync', 'rename', 'close'].includes(syscall ?? '')) throw error
    throw new BackupError(
      `${file} cannot be written (${code}): check the directory, its permissions and the free disk space.`,
    )
  })
  const { size } = await stat(file)
  print(
    { file, rows: sumOf(counts), bytes: size, masterKeyId: keyId, tables: counts },
    json,
    `Backed up ${plural(sumOf(counts), 'row')} to ${file} (${plural(size, 'byte')}). Its secrets open with the master key ${keyId}, which is not in it: keep a copy of the key elsewhere.`,
  )
}

/** Restores a backup into a database in which nothing was made yet. Interrupted or refused, it changes nothing. */
export async function restoreCommand(config: Config, log: Logger, file: string, { json }: Json): Promise<void> {
  const input = createReadStream(file)
  // The reader of the lines gets the error of the file. The pipeline ends when the reader has finished.
  const unzipped = createGunzip()
  // A pipeline whose streams are destroyed never settles if the file has been read and not yet unzipped. An aborted one does.
  const refused = new AbortController()
  const reading = pipeline(input, unzipped, { signal: refused.signal }).catch(() => {})
  const lines = splitLines(unzipped)
  try {
    const found = await stat(file).catch(({ code }) => {
      throw new BackupError(`${file} cannot be read (${code}): check the path.`)
    })
    if (!found.isFile()) {
      const what = found.isDirectory() ? 'a directory' : 'not a regular file'
      throw new BackupError(`${file} is ${what}: name the file that penstock backup wrote.`)
    }
    const header = await readHeader(lines)
    let ended = 0
    const restore = async ({ database, databaseUrl, masterKey }: CommandRuntime) => {
      const { id } = masterKey
      if (header.masterKeys.length > 0 && !header.masterKeys.includes(id)) {
        throw new BackupError(
          `The master key does not match this backup: its secrets are sealed under key ${header.masterKeys.join(' or ')}, the key given is ${id}. Set PENSTOCK_MASTER_KEY (or restore the file master.key) to the key that was used when it was made. Nothing was restored.`,
        )
      }
      const session = await openSession(databaseUrl, 'restore', { blocks: true })
      let counts: Counts
      try {
        counts = await load(session, header, lines, async (db) => {
          if (header.masterKeys.length > 0) await verifySecrets(db, await openKeyring(db, masterKey))
          ended = await endRestoredTransfers(db)
          await pauseSchedules(db, 'restore')
        })
      } finally {
        await session.end()
      }
      await applyMigrations({ databaseUrl })
      const restored = { backupCreatedTime: header.createdTime, rows: sumOf(counts) }
      await database.transaction(async (tx) => recordCommand(tx, 'restore', restored))
      return counts
    }
    const may = { database: true, masterKey: false }
    const counts = await withRuntime(config, log, restore, { migrates: false, may })
    print(
      { file, rows: sumOf(counts), createdTime: header.createdTime, transfersEnded: ended, tables: counts },
      json,
      [
        `Restored ${plural(sumOf(counts), 'row')} of the backup of ${header.createdTime}; the master key opens every secret in it.`,
        ended > 0 ? `${plural(ended, 'transfer')} that had not ended then ${ended === 1 ? 'is' : 'are'} failed.` : '',
        'Schedules are paused. Once nothing else works for these accounts: penstock schedules resume',
      ]
        .filter(Boolean)
        .join('\n'),
    )
  } finally {
    refused.abort()
    input.destroy()
    unzipped.destroy()
    await reading
  }
}

/** Lets schedules start transfers again, after a restore or `schedules pause`. */
export async function resumeSchedulesCommand(config: Config, log: Logger, { json }: Json): Promise<void> {
  const resumed = await withRuntime(config, log, ({ database }) =>
    database.transaction(async (tx) => {
      const isResumed = await resumeSchedules(tx)
      if (isResumed) recordCommand(tx, 'schedules resume', {})
      return isResumed
    }),
  )
  print({ resumed }, json, resumed ? 'Schedules start transfers again.' : 'Schedules were not paused.')
}

/** Keeps schedules from starting transfers, until they are resumed. */
export async function pauseSchedulesCommand(config: Config, log: Logger, { json }: Json): Promise<void> {
  await withRuntime(config, log, ({ database }) =>
    database.transaction(async (tx) => {
      await pauseSchedules(tx, 'operator')
      recordCommand(tx, 'schedules pause', {})
    }),
  )
  print({ paused: true }, json, 'Schedules are paused in every process. To resume: penstock schedules resume')
}

const exists = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  )

/** Returns once the name of the file would survive a power cut. */
async function flushDirectory(file: string): Promise<void> {
  const directory = await open(dirname(file), 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
