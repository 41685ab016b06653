import { asConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../../platform-api/client.ts'
import { objectIn, textIn } from '../../platform-api/json.ts'
import { cursorIn } from '../../platform-api/next-page.ts'
import { pagesOf } from '../../platform-api/polling.ts'
import { type Read, type Wrong, wrong } from '../../platform-api/rows/events.ts'
import type { PostedObject, PostingDestination, PostingLevel } from '../posting-facts.ts'
import type { Posting } from './read-postings.ts'

/** The objects of an account: each list is read once, and then kept up to date by the writer. */
export class PostedObjects {
  readonly #facts: PostingDestination
  readonly #client: PlatformClient
  readonly #account: string
  readonly #lists = new Map<string, PostedObject[]>()

  constructor(facts: PostingDestination, client: PlatformClient, account: string) {
    this.#facts = facts
    this.#client = client
    this.#account = account
  }

  /** Forgets everything, so that the platform is asked again. */
  forget(): void {
    this.#lists.clear()
  }

  /**
   * The ID of the parent of a row: empty of a level without parents, and of a parent that is not created because rows are only
   * tried.
   */
  async parentOf(level: PostingLevel, { id, parent }: Posting): Promise<Read<string>> {
    const above = level.parent === undefined ? undefined : this.#facts.levels[level.parent]
    if (!above) return { read: '' }
    const list = await this.listOf(above, '')
    if (id !== undefined && parent.id === undefined && parent.name === undefined) {
      const known = await this.#askParent(level, id)
      // If none of these is the parent, the object belongs to another account.
      return list.some((one) => one.id === known) && known !== undefined ? { read: known } : missing(level, 'id')
    }
    const isId = parent.id !== undefined
    const fits = list.filter((one) => (isId ? one.id === parent.id : one.name === parent.name))
    return oneOf(above, fits, `${level.parent}_${isId ? 'id' : 'name'}`, ({ id: found }) => found)
  }

  /** The object that a row names. `undefined` if no object has its name. */
  async find(level: PostingLevel, { id, name }: Posting, parent: string): Promise<Read<PostedObject | undefined>> {
    const list = await this.listOf(level, parent)
    const fits = list.filter((one) => (id === undefined ? one.name === name : one.id === id))
    if (id === undefined && fits.length === 0) return { read: undefined }
    return oneOf(level, fits, id === undefined ? 'name' : 'id', (found) => found)
  }

  /** Puts an object into its list, or replaces the object with the same ID. */
  async keep(level: PostingLevel, object: PostedObject): Promise<void> {
    const list = await this.listOf(level, object.parent)
    const at = list.findIndex(({ id }) => id === object.id)
    if (at < 0 || object.id === '') list.push(object)
    else list[at] = object
  }

  async listOf(level: PostingLevel, parent: string): Promise<PostedObject[]> {
    const key = `${level.one} ${parent}`
    const known = this.#lists.get(key) ?? (await this.#read(level, parent))
    this.#lists.set(key, known)
    return known
  }

  async #read(level: PostingLevel, parent: string): Promise<PostedObject[]> {
    const { name: platform } = this.#facts.platformApi
    const readPage = async (cursor: string | undefined) => {
      const answer = await this.#client.askObject(level.page({ account: this.#account, parent }, cursor))
      return { items: level.found(answer), next: cursorIn(level.next?.(answer), platform) }
    }
    const all: PostedObject[] = []
    for await (const { items } of pagesOf(readPage)) {
      for (const { id: given, name: called, values, about } of items) {
        const [id, name] = [textIn(given), textIn(called)]
        if (id === undefined || !level.id.test(id) || name === undefined) continue
        all.push({ id, name, parent, values, about: objectIn(about) })
      }
    }
    return all
  }

  async #askParent({ ofParent }: PostingLevel, id: string): Promise<string | undefined> {
    if (!ofParent) return undefined
    const [request, parent] = ofParent
    try {
      return textIn(parent(await this.#client.askObject(request(this.#account, id))))
    } catch (error) {
      if (asConnectorError(error)?.code === 'object_not_found') return undefined
      throw error
    }
  }
}

const missing = ({ one }: PostingLevel, field: string): Wrong =>
  wrong(`The account has no such ${one}, or it was deleted.`, field)

/** The only object of some. */
function oneOf<T>(
  level: PostingLevel,
  fits: readonly PostedObject[],
  field: string,
  read: (found: PostedObject) => T,
): Read<T> {
  const [found] = fits
  if (!found) return missing(level, field)
  if (fits.length === 1) return { read: read(found) }
  return wrong(`Several ${level.one}s have this name. Give the ID of the ${level.one}.`, field)
}
