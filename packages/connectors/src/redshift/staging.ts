import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { asConnectorError, ConnectorError, type DestinationContext, type Values } from '@penstock/connector'
import { makeS3Client, type S3Client } from '../amazon-s3/s3-client.ts'
import { s3Objects } from '../amazon-s3/s3-objects.ts'
import { encryptionOf } from '../amazon-s3/s3-upload.ts'
import { discard } from '../object-stores/answers.ts'
import { placeOf } from '../object-stores/place.ts'

/** A bucket of the user in which batches are put for Redshift to load. */
export type Staging = {
  readonly client: S3Client
  /**
   * Puts lines of JSON there, compressed, with a manifest that names just this file.
   * @param name of the file, without its ending
   * @returns the addresses of both, and their removal, which never throws
   */
  put(name: string, lines: string): Promise<StagedFile>
  /** Removes what earlier attempts of this transfer have left, as far as the access key is allowed to list and delete. */
  clean(): Promise<void>
}

export type StagedFile = {
  readonly file: string
  readonly manifest: string
  /** Compressed size. */
  readonly bytes: number
  remove(): Promise<void>
}

const compress = promisify(gzip)
const uploadTimeoutMs = 300_000
const removalTimeoutMs = 15_000
/** Redshift's lists of errors store this number of characters of an address. */
const addressMax = 256

/** The bucket and the folder that the settings name. Throws `invalid_address` if a statement cannot name it. */
export function stagingPlaceOf(settings: Values): { readonly bucket: string; readonly folder: string } {
  const { bucket, path } = placeOf(settings.stagingPath, 's3', 'The staging path')
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`
  if (/^[\w!.*() /=@:+,-]*$/.test(folder) && folder.length <= 100 && !folder.startsWith('/')) return { bucket, folder }
  const message =
    'The staging path can have letters without accents, digits, slashes and common signs, but no quotes, and at most 100 characters.'
  throw new ConnectorError('invalid_address', message)
}

/** Throws `invalid_address` if the settings name no bucket, and `invalid_credentials` if the access key is not complete. */
export function openStaging(
  context: Pick<DestinationContext, 'transferId'> & Parameters<typeof makeS3Client>[0],
): Staging {
  const { bucket, folder } = stagingPlaceOf(context.settings)
  const client = makeS3Client(context)
  const encryption = encryptionOf(context.settings)
  const prefix = `${folder}penstock/${context.transferId}/`
  const put = async (key: string, contentType: string, body: Uint8Array | string): Promise<void> => {
    const headers = { 'content-type': contentType, ...encryption }
    const asked = {
      method: 'PUT',
      bucket,
      key,
      headers,
      body,
      permission: 's3:PutObject',
      timeoutMs: uploadTimeoutMs,
    } as const
    await discard(await client.request(asked))
  }
  const remove = async (key: string): Promise<void> => {
    // Done even if the context was aborted, because nothing else removes it before the next attempt.
    const signal = AbortSignal.timeout(removalTimeoutMs)
    await discard(await client.request({ method: 'DELETE', bucket, key, permission: 's3:DeleteObject', signal }))
  }
  const addressOf = (key: string): string => `s3://${bucket}/${key}`
  return {
    client,
    async put(name, lines) {
      const keys = { file: `${prefix}${name}.ndjson.gz`, manifest: `${prefix}${name}.manifest` }
      const bytes = await compress(lines)
      const manifest = JSON.stringify({ entries: [{ url: addressOf(keys.file), mandatory: true }] })
      await put(keys.file, 'application/gzip', bytes)
      await put(keys.manifest, 'application/json', manifest)
      return {
        file: addressOf(keys.file).slice(0, addressMax),
        manifest: addressOf(keys.manifest),
        bytes: bytes.length,
        async remove() {
          await Promise.allSettled([remove(keys.file), remove(keys.manifest)])
        },
      }
    },
    async clean() {
      try {
        for await (const { name } of s3Objects(client, bucket).list(prefix)) await remove(name)
      } catch (error) {
        const code = asConnectorError(error)?.code
        if (code !== 'permission_denied') throw error
      }
    },
  }
}
