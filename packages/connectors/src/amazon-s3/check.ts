import { asConnectorError, type ConnectorContext, checkSteps, type Inspect, inspectBy } from '@penstock/connector'
import { readOptionsOf } from '@penstock/connector/files'
import { discard, textOf } from '../object-stores/answers.ts'
import { checkReading } from '../object-stores/check-reading.ts'
import { objectNameOf, placeOf } from '../object-stores/place.ts'
import { readXml, textAt } from '../object-stores/xml.ts'
import { connectToS3, isKeyless, makeS3Client } from './s3-client.ts'
import { s3Objects } from './s3-objects.ts'
import { encryptionOf } from './s3-upload.ts'

const checkConnectivity = async (context: ConnectorContext): Promise<string> => `${await connectToS3(context)} answers.`

/** Distinguishes a key that is not allowed to list buckets from an unknown key. */
export async function signIn(context: ConnectorContext): Promise<string> {
  try {
    await discard(await makeS3Client(context).request({ permission: 's3:ListAllMyBuckets' }))
  } catch (error) {
    if (asConnectorError(error)?.code !== 'permission_denied') throw error
  }
  return `The ${isKeyless(context.secrets) ? 'role' : 'access key'} is accepted.`
}

const later = 'What the key may do is checked when a connection has a bucket.'

async function mayRead(context: ConnectorContext): Promise<string> {
  const { settings } = context
  if (settings.bucketUri === undefined) return later
  const { bucket, path } = placeOf(settings.bucketUri, 's3', 'The bucket URI')
  return checkReading(s3Objects(makeS3Client(context), bucket), path, readOptionsOf(settings).format)
}

/** Begins an upload and ends it again: just what a transfer needs, and at no time is anything to be seen. */
async function mayWrite(context: ConnectorContext): Promise<string> {
  const { settings } = context
  if (settings.outputPath === undefined) return later
  const { bucket, path } = placeOf(settings.outputPath, 's3', 'The output path')
  const client = makeS3Client(context)
  const probe = { startedTime: new Date().toISOString(), transferId: 'check' }
  const target = { bucket, key: objectNameOf(path, probe, 'csv', true) }
  const headers = encryptionOf(settings)
  const asked = { ...target, method: 'POST', query: { uploads: '' }, headers, permission: 's3:PutObject' } as const
  const begun = readXml(await textOf(await client.request(asked)), 'The store')
  const uploadId = textAt(begun, 'InitiateMultipartUploadResult', 'UploadId')
  const ended = { ...target, method: 'DELETE', query: { uploadId }, permission: 's3:AbortMultipartUpload' } as const
  await discard(await client.request(ended))
  return `Files can be written to the bucket ${bucket}.`
}

/** Looks whether files can be written where the settings say. */
export const inspect: Inspect = inspectBy(mayWrite)

export const checkSource = checkSteps(
  ['connectivity', checkConnectivity],
  ['authentication', signIn],
  ['permissions', mayRead],
)
export const checkDestination = checkSteps(
  ['connectivity', checkConnectivity],
  ['authentication', signIn],
  ['permissions', mayWrite],
)

/** For a connector with both roles: by the setting that a connection has. */
export const checkEither = checkSteps(
  ['connectivity', checkConnectivity],
  ['authentication', signIn],
  ['permissions', (context) => (context.settings.outputPath === undefined ? mayRead(context) : mayWrite(context))],
)
