import { ConnectorError } from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'
import { discard, textOf } from '../object-stores/answers.ts'
import { fileOf, filesOfPages, type ListingPage, listingBounds } from '../object-stores/listing.ts'
import { beginsAt, type ObjectStore, rangeIgnored, sourceChanged } from '../object-stores/object-store.ts'
import { encodeValue } from '../object-stores/place.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, parseObject, textIn } from '../platform-api/json.ts'
import { tokenIn } from '../platform-api/next-page.ts'
import { failedWith, type GcsClient } from './gcs-client.ts'

const store = 'Google Cloud Storage'

/** An object's own path. Slashes in its name are encoded, too. */
export const objectPath = (name: string): string => `/o/${encodeValue(name)}`

/** The requested metadata of an object. */
export type GcsObject = {
  readonly name: string
  readonly size: string
  readonly generation: string
  readonly metadata?: JsonObject
  readonly md5Hash?: string
}

/** An answer that describes an object. */
export async function objectOf(response: Response): Promise<GcsObject> {
  const { name, generation, size, metadata, md5Hash } = parseObject(await textOf(response))
  if (typeof name !== 'string' || typeof generation !== 'string' || typeof size !== 'string') {
    throw new ConnectorError('malformed_response', `${store} answered with something other than an object.`)
  }
  return {
    name,
    generation,
    size,
    ...(isObject(metadata) ? { metadata } : {}),
    ...(typeof md5Hash === 'string' ? { md5Hash } : {}),
  }
}

/** Reading a bucket. */
export function gcsObjects(client: GcsClient): ObjectStore {
  return {
    list: (prefix) => filesOfPages(store, (token) => listPage(client, prefix, token)),
    page: (prefix, token, entriesMax) => listPage(client, prefix, token, entriesMax),
    async find(name) {
      try {
        const query = { fields: 'name,size,generation' }
        return describedFile(
          await objectOf(await client.request({ path: objectPath(name), query, permission: 'storage.objects.get' })),
        )
      } catch (error) {
        if (failedWith(error, 'source_changed')) return undefined
        throw error
      }
    },
    async get(file, fromByte) {
      let response: Response
      try {
        response = await client.request({
          path: objectPath(file.name),
          query: { alt: 'media', ifGenerationMatch: file.version },
          // With a range, and by accepting gzip, compressed objects are returned unchanged.
          headers: { range: `bytes=${fromByte}-`, 'accept-encoding': 'gzip' },
          permission: 'storage.objects.get',
          streams: true,
        })
      } catch (error) {
        throw failedWith(error, 'source_changed') ? sourceChanged(file.name) : error
      }
      if (beginsAt(response, fromByte)) return response
      await discard(response)
      throw rangeIgnored(store)
    },
  }
}

/** An object as a file. Throws if it is described as what cannot be one. */
const describedFile = ({ name, size, generation }: JsonObject): StoredFile =>
  fileOf(store, {
    name: textIn(name) ?? '',
    sizeBytes: numberIn(size) ?? Number.NaN,
    version: textIn(generation) ?? '',
  })

/** Up to 1,000 objects, and what to ask for the next ones with. */
async function listPage(
  client: GcsClient,
  prefix: string,
  token: string | undefined,
  entriesMax: number = listingBounds.pageEntries,
): Promise<ListingPage> {
  const query = {
    delimiter: '/',
    maxResults: String(entriesMax),
    fields: 'items(name,size,generation),prefixes,nextPageToken',
    prefix,
    ...(token === undefined ? {} : { pageToken: token }),
  }
  const response = await client.request({ path: '/o', query, permission: 'storage.objects.list' })
  const { items, prefixes, nextPageToken } = parseObject(await textOf(response, listingBounds.pageBytes))
  const folders = listIn(prefixes).flatMap((folder) => textIn(folder) ?? [])
  return {
    files: listIn(items).map((item) => describedFile(objectIn(item))),
    folders,
    next: tokenIn(nextPageToken, store),
  }
}
