import { createHash } from 'node:crypto'
import { persistently } from './calls.ts'
import { ChangedMeanwhile, isRefused } from './failures.ts'

/** Writes that can be repeated, and that leave what someone else changed as it is. */

/** How often something of one name can be created within the time for which the service stores keys. */
export const generationsMax = 50

export const createdTooOften = 'It was created and deleted too often today. Create it in the console, then plan again.'

/**
 * The idempotency key under which something is created: the same for the same thing in every run, so that one that was killed,
 * and one beside it, create it once.
 * @param generation counts on where the answer of the key before is about one that is gone
 */
export const creationKey = (kind: string, accountId: string, name: string, generation: number): string =>
  `penstock-apply-${createHash('sha256')
    .update(JSON.stringify([kind, accountId, name, generation]))
    .digest('hex')}`

/**
 * Creates something once, however often this runs and however many do at once: its key follows from its name. The first answer
 * of a key may be about one that was deleted or renamed since: then the next key counts.
 */
export async function createOnce(
  { kind, accountId, name }: { readonly kind: string; readonly accountId: string; readonly name: string },
  create: (idempotencyKey: string) => Promise<{ reply: { id: string } }>,
  get: (id: string) => Promise<{ reply: { name: string } }>,
  /** Whether another apply created one of this name under the same key, with another content. */
  isOther: () => Promise<boolean> = async () => false,
): Promise<string> {
  for (let generation = 0; generation < generationsMax; generation++) {
    const idempotencyKey = creationKey(kind, accountId, name, generation)
    try {
      const { reply } = await persistently(() => create(idempotencyKey))
      const { reply: now } = await persistently(() => get(reply.id))
      if (now.name === name) return reply.id
    } catch (error) {
      if (!isRefused(error, 'not_found', 'idempotency_key_reused')) throw error
    }
    if (await isOther()) throw new ChangedMeanwhile([{ field: 'name' }])
  }
  throw createdTooOften
}

/**
 * Writes what is still as the plan saw it, or as another apply of the same files has made it by now.
 * @throws ChangedMeanwhile
 */
export async function writeUnchanged<T>(of: {
  readonly existing: T
  /** What it becomes; null: it is deleted. */
  readonly wanted: T | null
  /** Also writes what is as wanted already: something of it cannot be read. */
  readonly always?: boolean
  differences(from: T, to: T): readonly string[]
  read(): Promise<{ reply: T; etag: string | undefined }>
  write(ifMatch: string | undefined): Promise<unknown>
}): Promise<void> {
  const { existing, wanted, always = false } = of
  const refuse = (fields: readonly string[]) => {
    throw new ChangedMeanwhile(fields.map((field) => ({ field })))
  }
  try {
    const { reply, etag } = await persistently(() => of.read())
    const isDone = wanted !== null && of.differences(reply, wanted).length === 0
    if (isDone && !always) return
    const changed = isDone ? [] : of.differences(existing, reply)
    if (changed.length > 0) refuse(changed)
    await persistently(() => of.write(etag))
  } catch (error) {
    if (isRefused(error, 'not_found')) return wanted === null ? undefined : refuse([])
    if (!isRefused(error, 'precondition_failed')) throw error
    const { reply } = await persistently(() => of.read())
    const differ = wanted ? of.differences(reply, wanted) : of.differences(existing, reply)
    if (!wanted || differ.length > 0) refuse(differ)
  }
}

/** Deletes what may be gone, which the service says with these codes. */
export async function deleteOnce(call: () => Promise<unknown>, ...gone: string[]): Promise<void> {
  try {
    await persistently(call)
  } catch (error) {
    if (isRefused(error, 'precondition_failed')) throw new ChangedMeanwhile([])
    if (!isRefused(error, ...gone)) throw error
  }
}
