import { asConnectorError, ConnectorError } from '@penstock/connector'
import { discard, textOf } from '../object-stores/answers.ts'
import { decodedName, fileOf, filesOfPages, type ListingPage, listingBounds } from '../object-stores/listing.ts'
import { beginsAt, type ObjectStore, rangeIgnored, sourceChanged } from '../object-stores/object-store.ts'
import { element, elements, numberAt, readXml, textAt } from '../object-stores/xml.ts'
import { cursorIn } from '../platform-api/next-page.ts'
import type { S3Client } from './s3-client.ts'

const store = 'The store'

/** Reading a bucket. */
export function s3Objects(client: S3Client, bucket: string): ObjectStore {
  return {
    list: (prefix) => filesOfPages(store, (token) => listPage(client, bucket, prefix, token)),
    page: (prefix, token, entriesMax) => listPage(client, bucket, prefix, token, entriesMax),
    async find(key) {
      try {
        const response = await client.request({ method: 'HEAD', bucket, key, permission: 's3:GetObject' })
        const { headers } = response
        await discard(response)
        const sizeBytes = Number(headers.get('content-length') ?? Number.NaN)
        return fileOf(store, { name: key, sizeBytes, version: headers.get('etag') ?? '' })
      } catch (error) {
        if (asConnectorError(error)?.code === 'source_changed') return undefined
        throw error
      }
    },
    async get(file, fromByte) {
      let response: Response
      try {
        // With a range, S3 also returns objects with a content encoding unchanged.
        const headers = { range: `bytes=${fromByte}-`, 'if-match': file.version }
        const asked = { bucket, key: file.name, headers, permission: 's3:GetObject', streams: true }
        response = await client.request(asked)
      } catch (error) {
        const code = asConnectorError(error)?.code
        throw code === 'source_changed' ? sourceChanged(file.name) : error
      }
      if (beginsAt(response, fromByte)) return response
      await discard(response)
      throw rangeIgnored(store)
    },
  }
}

/** Up to 1,000 objects, and what to ask for the next ones with. */
async function listPage(
  client: S3Client,
  bucket: string,
  prefix: string,
  token: string | undefined,
  entriesMax: number = listingBounds.pageEntries,
): Promise<ListingPage> {
  const query = {
    'list-type': '2',
    delimiter: '/',
    // XML cannot hold every character that a name can.
    'encoding-type': 'url',
    'max-keys': String(entriesMax),
    prefix,
    ...(token === undefined ? {} : { 'continuation-token': token }),
  }
  const response = await client.request({ bucket, query, permission: 's3:ListBucket' })
  const result = element(readXml(await textOf(response, listingBounds.pageBytes), store), 'ListBucketResult')
  if (result === undefined)
    throw new ConnectorError('malformed_response', 'The store answered with something other than a listing.')
  const encoded = textAt(result, 'EncodingType') === 'url'
  const nameAt = (name: string) => (encoded ? decodedName(store, name.replaceAll('+', ' ')) : name)
  const files = elements(result, 'Contents').map((object) => ({
    name: nameAt(textAt(object, 'Key')),
    sizeBytes: numberAt(object, 'Size'),
    version: textAt(object, 'ETag'),
  }))
  const next = textAt(result, 'NextContinuationToken')
  const folders = elements(result, 'CommonPrefixes').map((folder) => nameAt(textAt(folder, 'Prefix')))
  return { files, folders, next: textAt(result, 'IsTruncated') === 'true' ? cursorIn(next, store) : undefined }
}
