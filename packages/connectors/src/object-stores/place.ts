import { ConnectorError, type DestinationContext } from '@penstock/connector'
import { fileNameOf } from '@penstock/connector/files'

/** A bucket, and a path in it: an object's name, a prefix, or nothing. */
export type BucketPlace = { readonly bucket: string; readonly path: string }

/** Parses `s3://bucket/path`. Throws `invalid_address`. */
export function placeOf(uri: unknown, scheme: 's3' | 'gs', label: string): BucketPlace {
  const [, bucket, path = ''] = /^([^/?#\s]+)(?:\/(.*))?$/s.exec(afterScheme(String(uri ?? '').trim(), scheme)) ?? []
  if (bucket !== undefined && /^[A-Za-z0-9][A-Za-z0-9._-]{1,220}[A-Za-z0-9]$/.test(bucket)) return { bucket, path }
  const message = `${label} must begin with ${scheme}:// and the name of a bucket, like ${scheme}://my-bucket/exports/.`
  throw new ConnectorError('invalid_address', message)
}

const afterScheme = (uri: string, scheme: string): string =>
  uri.toLowerCase().startsWith(`${scheme}://`) ? uri.slice(scheme.length + 3) : ''

/** Extensions that distinguish the name of a file from the name of a folder. */
const fileEnding = /\.(csv|tsv|txt|ndjson|jsonl|json|parquet|parq|pq)(\.gz)?$/i

/**
 * The name of the object that a transfer writes. It is the same after a crash. `{{date}}` becomes the day on which the transfer
 * began, and `{{yyyy}}`, `{{MM}}`, `{{dd}}`, `{{HH}}` its parts and the hour, in UTC. A path that ends like a file is the name,
 * with the extension of the content. Any other path is a folder, and the name in it is made of the time and the transfer.
 * @param extension the end of the name: `csv.gz`
 * @param distinct whether the time and the transfer are also added to a given name, so that no transfer replaces another's
 * object; a test never replaces one
 */
export function objectNameOf(
  path: string,
  context: Pick<DestinationContext, 'startedTime' | 'transferId'>,
  extension: string,
  distinct = false,
): string {
  const time = new Date(context.startedTime).toISOString()
  const parts: Readonly<Record<string, string>> = {
    date: time.slice(0, 10),
    yyyy: time.slice(0, 4),
    MM: time.slice(5, 7),
    dd: time.slice(8, 10),
    HH: time.slice(11, 13),
  }
  const dated = path.replaceAll(/\{\{(date|yyyy|MM|dd|HH)\}\}/g, (_, part) => parts[part] ?? '').replace(/^\/+/, '')
  const ending = fileEnding.exec(dated)
  if (ending && !dated.slice(0, ending.index).endsWith('/') && ending.index > 0) {
    const name = dated.slice(0, ending.index)
    return distinct ? `${name}-${fileNameOf(context, extension)}` : `${name}.${extension}`
  }
  return `${dated === '' || dated.endsWith('/') ? dated : `${dated}/`}${fileNameOf(context, extension)}`
}

/** The content type of a file with this extension. Compressed files must not be decompressed in transit. */
export function contentTypeOf(extension: string): string {
  if (extension.endsWith('.gz')) return 'application/gzip'
  if (extension === 'csv') return 'text/csv; charset=utf-8'
  return extension === 'ndjson' ? 'application/x-ndjson' : 'application/vnd.apache.parquet'
}

/** An object's name within an address. Throws `invalid_file` for names that no address can hold. */
export function encodeName(name: string): string {
  const segments = name.split('/')
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    // Every client treats these segments as steps in a tree of folders, and requests another object.
    throw new ConnectorError('invalid_file', `The name ${name} has a part . or .. and cannot be asked for; rename it.`)
  }
  return segments.map(encodeValue).join('/')
}

/** A text within an address: everything but letters, digits and `-._~` is encoded. */
export const encodeValue = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
