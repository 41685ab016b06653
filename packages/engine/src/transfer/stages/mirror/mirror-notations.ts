import { hash } from 'node:crypto'
import type { Row } from '@penstock/connector'
import type { FoundKey, Mirror } from './mirror.ts'

/**
 * Keys in several notations, such as `Ada` and `ada`, or `7` and `07`. Only the destination knows which of them it treats as the
 * same key, so it is asked before a row is removed. If a key that was removed from the source is the same as a key that the
 * source has, its row is not removed, because it now belongs to the other key.
 */

/** Names the rows that a destination finds by some keys; `undefined` if only equal texts are the same key. */
export type NameKeys = (keys: readonly Row[]) => Promise<readonly (string | null)[] | undefined>

/** A key by the first numbers of its record. */
export const idOf = ({ high, low }: Pick<FoundKey, 'high' | 'low'>): string => `${high} ${low}`

/** Keys that were removed from the source but still identify rows. */
export type HeldKeys = {
  /** By each key, the same key in the notation of the source; `undefined` if it was not sent because its row is rejected. */
  readonly held: ReadonlyMap<string, string | undefined>
  /** Whether there may be more keys. */
  readonly isPartial: boolean
}

const none: HeldKeys = { held: new Map(), isPartial: false }

/** Keys that are sent to the destination in one question. */
const keysAtOnce = 1_000
/** The most keys in memory that are the same as keys that left the source. */
const sameMax = 200_000

/** Different whole numbers without a sign and leading zeros are different keys for every destination. */
const plain = /^(?:0|[1-9]\d{0,17})$/
const isPlain = (key: Row): boolean => key.every((cell) => plain.test(String(cell)))

/**
 * Finds the keys that were removed from the source, but that the destination treats as the same as keys that the source has.
 * @param onProgress called while keys are read
 */
export async function heldKeys(mirror: Mirror, nameKeys: NameKeys, onProgress: () => void): Promise<HeldKeys> {
  if (await isAllPlain(mirror, onProgress)) return none
  const gone = new Set<string>()
  for await (const [name] of named(mirror.missing(), nameKeys, onProgress)) gone.add(name)
  if (gone.size === 0) return none
  const present = new Map<string, string | undefined>()
  let isPartial = false
  for await (const [name, found] of named(mirror.present(), nameKeys, onProgress)) {
    if (!gone.has(name)) continue
    isPartial = present.size >= sameMax
    if (isPartial) break
    present.set(name, found.high === undefined ? present.get(name) : idOf(found))
  }
  if (present.size === 0) return none
  const held = new Map<string, string | undefined>()
  for await (const [name, found] of named(mirror.missing(), nameKeys, onProgress)) {
    if (present.has(name)) held.set(idOf(found), present.get(name))
  }
  return { held, isPartial }
}

async function isAllPlain(mirror: Mirror, onProgress: () => void): Promise<boolean> {
  for (const keys of [mirror.missing(), mirror.present()]) {
    for await (const { key } of keys) {
      onProgress()
      if (!isPlain(key)) return false
    }
  }
  return true
}

/**
 * Some keys with the names of their rows, each of which is a digest. Empty for keys without a row, or if only equal texts are the
 * same key.
 */
async function* named<Found extends { readonly key: Row }>(
  keys: AsyncIterable<Found>,
  nameKeys: NameKeys,
  onProgress: () => void,
): AsyncGenerator<[name: string, found: Found], void, undefined> {
  let page: Found[] = []
  const ask = async (): Promise<[string, Found][] | undefined> => {
    onProgress()
    const asked = page
    page = []
    const names = await nameKeys(asked.map(({ key }) => key))
    return names?.flatMap((name, i) => (name === null ? [] : [[digestOf(name), asked[i] as Found]]))
  }
  for await (const found of keys) {
    page.push(found)
    if (page.length < keysAtOnce) continue
    const some = await ask()
    if (!some) return
    yield* some
  }
  if (page.length > 0) yield* (await ask()) ?? []
}

const digestOf = (name: string): string => hash('sha512-256', name, 'base64').slice(0, 16)
