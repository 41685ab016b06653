import { ConnectorError } from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'

/** Bounds on a listing, of every store. */
export const listingBounds = {
  /** Names that are requested per page. */
  pageEntries: 1_000,
  /** Size limit of a page in bytes. A name has at most 1,024 bytes, and three times as many when it is encoded. */
  pageBytes: 4 << 20,
  /** Pages of a listing, including pages that contain only folders. */
  pages: 300,
  /** Maximum number of files of a path. More files mean a mistake in the path. */
  files: 100_000,
  /** Characters of a name, and of what a store calls its version. */
  nameLength: 3 << 10,
  versionLength: 1 << 10,
} as const

/**
 * Some files, the folders next to them with their slashes, and the token of the next page, which is `undefined` after the last.
 */
export type ListingPage = {
  readonly files: readonly StoredFile[]
  readonly folders?: readonly string[]
  readonly next: string | undefined
}

/**
 * The files of all pages. Throws `response_too_large` if a page is repeated or there are too many pages, and
 * `unexpected_response` if a page contains an entry that is not a file. @param store the name of the store, for messages
 * @param store the name of the store, for messages
 */
export async function* filesOfPages(
  store: string,
  ask: (token: string | undefined) => Promise<ListingPage>,
): AsyncGenerator<StoredFile> {
  const asked = new Set<string>()
  for (let token: string | undefined; ; ) {
    const { files, next } = await ask(token)
    if (files.length > listingBounds.pageEntries) {
      throw strange(store, `a page of more than the ${listingBounds.pageEntries} names that were asked for`)
    }
    for (const file of files) yield fileOf(store, file)
    if (next === undefined || next === '') return
    if (asked.has(next)) throw endless(`${store} gives the same page of the listing again and again.`)
    if (asked.size + 1 >= listingBounds.pages) {
      throw endless(`${store} gives a listing of more than ${listingBounds.pages} pages.`)
    }
    asked.add(next)
    token = next
  }
}

/** The same file. Throws if it cannot be one: a size of nothing would be taken for a file without a row. */
export function fileOf(store: string, { name, sizeBytes, version }: StoredFile): StoredFile {
  const isText = (text: string, lengthMax: number) =>
    typeof text === 'string' && text.length > 0 && text.length <= lengthMax
  if (!isText(name, listingBounds.nameLength)) throw strange(store, 'an object without a name, or with too long a one')
  if (!isText(version, listingBounds.versionLength)) throw strange(store, 'an object without a version')
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw strange(store, 'an object without a size')
  return { name, sizeBytes, version }
}

/** A name that came percent-encoded. */
export function decodedName(store: string, name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    throw strange(store, 'a name that cannot be decoded')
  }
}

const strange = (store: string, what: string): ConnectorError =>
  new ConnectorError('unexpected_response', `${store} answered with ${what}. Check the endpoint.`)

const endless = (what: string): ConnectorError =>
  new ConnectorError('response_too_large', `${what} Name a narrower path, and check the endpoint.`)
