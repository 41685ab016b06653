import { readFile } from 'node:fs/promises'
import { recordCommand } from '../audit/record.ts'
import { type Config, ConfigError, masterKeyHint } from '../config.ts'
import type { Logger } from '../log.ts'
import { openKeyring } from '../secrets/keyring.ts'
import { countSealedUnder, rotateMasterKey } from '../secrets/rotate.ts'
import { generateMasterKey, parseMasterKey } from '../secrets/seal.ts'
import { print } from './print.ts'
import { CommandRuntimeError, masterKeyFile, previousKeyFile, withRuntime, writeNew, writePrivate } from './runtime.ts'

/**
 * `penstock key rotate`. With a key file, this command creates the new key, writes it to the file and keeps the old key in a
 * file next to it. With PENSTOCK_MASTER_KEY, the operator creates the new key, passes it as PENSTOCK_NEXT_MASTER_KEY, and sets
 * it as PENSTOCK_MASTER_KEY before the next start.
 */
export async function rotateKeyCommand(config: Config, log: Logger, { json }: { json?: boolean }): Promise<void> {
  const text = config.masterKey === undefined ? generateMasterKey() : undefined
  const next = text === undefined ? config.nextMasterKey : parseMasterKey(text)
  if (!next) {
    throw new ConfigError([
      `PENSTOCK_NEXT_MASTER_KEY is needed to rotate a key that is given by PENSTOCK_MASTER_KEY. ${masterKeyHint}, keep it safe, and give the same one until this command succeeded.`,
    ])
  }
  const file = masterKeyFile(config)
  const rotated = await withRuntime(config, log, async ({ database, databaseUrl, masterKey }) => {
    const previousFile = text === undefined ? undefined : previousKeyFile(config, masterKey)
    const keyring = await openKeyring(database, masterKey)
    const resealed = await rotateMasterKey({ database, databaseUrl }, keyring, next, async () => {
      if (text === undefined || previousFile === undefined) return
      // The old key is stored before the new key replaces it, so that one of the two files always contains it.
      const kept = parseMasterKey(await writeNew(previousFile, await readFile(file, 'utf8')))
      if (kept?.id !== masterKey.id) {
        throw new CommandRuntimeError(
          'master key',
          `${previousFile} does not hold the key ${masterKey.id}: move it away, then run this again.`,
        )
      }
      await writePrivate(file, `${text}\n`)
    })
    const previous = masterKey.id === next.id ? undefined : masterKey.id
    const keys = { keyId: next.id, previousKeyId: previous ?? null, resealed }
    await database.transaction(async (tx) => recordCommand(tx, 'key rotate', keys))
    const stillSealed = previous === undefined ? 0 : await countSealedUnder(database, previous)
    return { resealed, previous, previousFile, stillSealed }
  })
  const { resealed, previous, previousFile, stillSealed } = rotated
  const lines = [
    `Sealed ${resealed} secrets under key ${next.id}.`,
    text === undefined
      ? 'Set PENSTOCK_MASTER_KEY to the new key before you start any process again.'
      : `The new key is in ${file}. Copy it to a safe place.`,
  ]
  if (previous !== undefined) {
    lines.push(
      previousFile === undefined ? `Keep the old key ${previous}.` : `The old key ${previous} is in ${previousFile}.`,
      stillSealed > 0
        ? `${stillSealed} secrets in the database are still sealed under it: run penstock key rotate again.`
        : 'It no longer opens any value in the database.',
      'Backups made before this rotation open only with the old key: delete it when you no longer keep any of them.',
    )
  }
  const value = {
    keyId: next.id,
    resealed,
    previousKeyId: previous ?? null,
    previousKeyFile: previousFile ?? null,
    stillSealed,
  }
  print(value, json, lines.join('\n'))
}
