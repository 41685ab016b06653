import { createHash } from 'node:crypto'
import { persistently } from './calls.ts'
import { ChangedMeanwhile, isRefused } from './failures.ts'

/** Writes that can be repeated, and that do not overwrite changes by others. */

/** How often something of one name can be created within the time for which the service stores keys. */
export const generationsMax = 50

export const createdTooOften = 'It was created and deleted too often today. Create it in the console, then plan again.'

/**
 * The idempotency key of a creation. It is the same for the same resource in every run, so that an interrupted run and a
 * concurrent run create it once.
 * @param generation increases if the answer of the previous key refers to a resource that no longer exists
 */
export const creationKey = (kind: string, accountId: string, name: string, generation: number): string =>
  `penstock-apply-${createHash('sha256')
    .update(JSON.stringify([kind, accountId, name, generation]))
    .digest('hex')}`

/**
 * Creates a resource once, even if this runs repeatedly or concurrently: its key follows from its name. If the answer of a key
 * refers to a resource that was deleted or renamed since, the next key is used.
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
 * Writes a resource if it is still in the state of the plan, or if another apply of the same files has already changed it.
 * @throws ChangedMeanwhile
 */
export async function writeUnchanged<T>(of: {
  readonly existing: T
  /** The wanted state; null: the resource is deleted. */
  readonly wanted: T | null
  /** Writes even if the resource seems to be in the wanted state, because a part of it cannot be read. */
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

/** Deletes a resource that may no longer exist, which the service reports with these codes. */
export async function deleteOnce(call: () => Promise<unknown>, ...gone: string[]): Promise<void> {
  try {
    await persistently(call)
  } catch (error) {
    if (isRefused(error, 'precondition_failed')) throw new ChangedMeanwhile([])
    if (!isRefused(error, ...gone)) throw error
  }
}
