import { ConnectorError } from '@penstock/connector'
import { discard, textOf } from '../object-stores/answers.ts'
import { decodedName, fileOf, filesOfPages, type ListingPage, listingBounds } from '../object-stores/listing.ts'
import { beginsAt, type ObjectStore, rangeIgnored, sourceChanged } from '../object-stores/object-store.ts'
import { element, elements, numberAt, readXml, textAt, type XmlNode } from '../object-stores/xml.ts'
import { type AzureClient, failedWith } from './azure-client.ts'

const store = 'Azure Blob Storage'

/** Reading a container. */
export function azureBlobs(client: AzureClient): ObjectStore {
  return {
    list: (prefix) => filesOfPages(store, (marker) => listPage(client, prefix, marker)),
    page: (prefix, marker, entriesMax) => listPage(client, prefix, marker, entriesMax),
    async find(blob) {
      try {
        const response = await client.request({ method: 'HEAD', blob, permission: 'read blobs' })
        const { headers } = response
        await discard(response)
        const sizeBytes = Number(headers.get('content-length') ?? Number.NaN)
        return fileOf(store, { name: blob, sizeBytes, version: bare(headers.get('etag') ?? '') })
      } catch (error) {
        if (failedWith(error, 'source_changed')) return undefined
        throw error
      }
    },
    async get(file, fromByte) {
      let response: Response
      try {
        // With a range, Azure also returns blobs with a content encoding unchanged.
        const headers = { range: `bytes=${fromByte}-`, 'if-match': `"${file.version}"` }
        response = await client.request({ blob: file.name, headers, permission: 'read blobs', streams: true })
      } catch (error) {
        throw failedWith(error, 'source_changed') ? sourceChanged(file.name) : error
      }
      if (beginsAt(response, fromByte)) return response
      await discard(response)
      throw rangeIgnored(store)
    },
  }
}

/** Up to 1,000 blobs, and the marker for the next page, which is empty after the last. */
async function listPage(
  client: AzureClient,
  prefix: string,
  marker = '',
  entriesMax: number = listingBounds.pageEntries,
): Promise<ListingPage> {
  const query = {
    restype: 'container',
    comp: 'list',
    delimiter: '/',
    maxresults: String(entriesMax),
    ...(prefix === '' ? {} : { prefix }),
    ...(marker === '' ? {} : { marker }),
  }
  const response = await client.request({ query, permission: 'list blobs' })
  const result = element(readXml(await textOf(response, listingBounds.pageBytes), store), 'EnumerationResults')
  if (result === undefined)
    throw new ConnectorError('malformed_response', `${store} answered with something other than a listing.`)
  const files = elements(element(result, 'Blobs'), 'Blob').map((blob) => ({
    name: nameOf(element(blob, 'Name')),
    sizeBytes: numberAt(blob, 'Properties', 'Content-Length'),
    version: bare(textAt(blob, 'Properties', 'Etag')),
  }))
  const folders = elements(element(result, 'Blobs'), 'BlobPrefix').map((folder) => nameOf(element(folder, 'Name')))
  return { files, folders, next: textAt(result, 'NextMarker') }
}

/** Names with characters that XML cannot hold come encoded. */
function nameOf(name: XmlNode | undefined): string {
  const text = textAt(name)
  return textAt(name, '@Encoded') === 'true' ? decodedName(store, text) : text
}

/** Listings give tags without quotation marks, headers with them. */
const bare = (tag: string): string => tag.replace(/^"|"$/g, '')
