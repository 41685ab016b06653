import { databaseNow } from '../db/clock.ts'
import type { Db } from '../db/database.ts'
import { type Keyring, MasterKeyMismatch } from '../secrets/keyring.ts'
import { seal, unseal } from '../secrets/seal.ts'
import * as queries from './passkey-queries.ts'
import { digestOf } from './sessions.ts'

/**
 * Challenges, which a browser returns with its answer. A challenge is random. It is a sealed value that contains its
 * purpose and its expiry, so that a request for a challenge stores nothing. A challenge is stored when it is used.
 */

/** Purpose of a challenge, and its bindings. */
export type ChallengePurpose = readonly string[]

const keyIdBytes = 8
const placeOf = (purpose: ChallengePurpose) => ['Challenge', ...purpose]

/** Makes a challenge, which is valid for so long by the clock of the database. */
export async function newChallenge(
  db: Db,
  keyring: Keyring,
  purpose: ChallengePurpose,
  minutes: number,
): Promise<string> {
  const key = keyring.latest()
  const untilMs = (await databaseNow(db)).getTime() + minutes * 60_000
  return Buffer.concat([Buffer.from(key.id, 'hex'), seal(key, placeOf(purpose), String(untilMs))]).toString('base64url')
}

/** A challenge that is valid. `use` resolves with whether this is its first use. */
export type ValidChallenge = { use(db: Db): Promise<boolean> }

/** Opens a challenge. Undefined if it was not created here, is for something else, or has expired. */
export async function openChallenge(
  db: Db,
  keyring: Keyring,
  purpose: ChallengePurpose,
  text: string,
): Promise<ValidChallenge | undefined> {
  const bytes = Buffer.from(text, 'base64url')
  // One challenge has one form, since it is by its digest that a second use is known.
  if (bytes.length <= keyIdBytes || bytes.toString('base64url') !== text) return undefined
  const untilMs = await readEnd(db, keyring, purpose, bytes)
  if (untilMs === undefined || untilMs <= (await databaseNow(db)).getTime()) return undefined
  const use = { digest: digestOf(text), expiresTime: new Date(untilMs) }
  return { use: async (inDb) => (await queries.useChallenge.run(inDb, use)) > 0 }
}

async function readEnd(db: Db, keyring: Keyring, purpose: ChallengePurpose, bytes: Buffer) {
  const key = await keyring.forOpening(db, bytes.subarray(0, keyIdBytes).toString('hex')).catch((error) => {
    if (error instanceof MasterKeyMismatch) return undefined
    throw error
  })
  if (!key) return undefined
  try {
    return Number(unseal(key, placeOf(purpose), bytes.subarray(keyIdBytes)).toString())
  } catch {
    return undefined
  }
}
