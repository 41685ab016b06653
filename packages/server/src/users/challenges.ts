import type { Db } from '../db/database.ts'
import { type Keyring, MasterKeyMismatch } from '../secrets/keyring.ts'
import { seal, unseal } from '../secrets/seal.ts'
import * as queries from './passkey-queries.ts'
import { digestOf } from './sessions.ts'

/**
 * Challenges: what comes back with the answer to a question that was asked of a browser. One is random, and a sealed value
 * itself that says what it is for and until when, so that nothing is stored for those who only ask for one; it is stored
 * once it is used.
 */

/** What a challenge is for, and what it is bound to. */
export type ChallengePurpose = readonly string[]

const keyIdBytes = 8
const placeOf = (purpose: ChallengePurpose) => ['Challenge', ...purpose]

/** Makes a challenge. */
export function newChallenge(keyring: Keyring, purpose: ChallengePurpose, minutes: number): string {
  const key = keyring.latest()
  const untilMs = Date.now() + minutes * 60_000
  return Buffer.concat([Buffer.from(key.id, 'hex'), seal(key, placeOf(purpose), String(untilMs))]).toString('base64url')
}

/** A challenge that is valid; `use` resolves with whether this is its first use. */
export type ValidChallenge = { use(db: Db): Promise<boolean> }

/** Opens a challenge; undefined where it was not made here, is for something else, or has expired. */
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
  if (untilMs === undefined || untilMs <= Date.now()) return undefined
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
