import { ConnectorError, type Redact } from '@penstock/connector'
import { errorTextOf, problemName, transientErrorOf } from '../object-stores/answers.ts'
import { element, readXml, textAt } from '../object-stores/xml.ts'

/** The error in a response without success. */
export type S3Error = {
  readonly status: number
  /** S3's name for it. Empty if there is no name: answers to HEAD have no body. */
  readonly code: string
  /** The region in which the bucket is instead. */
  readonly region: string | undefined
  /** The error of the response if it is transient. */
  readonly passing: ConnectorError | undefined
}

export async function problemOf(response: Response, store: string, redact: Redact): Promise<S3Error> {
  const passing = transientErrorOf(store, response)
  const text = await errorTextOf(response)
  // An answer that is not from S3 (such as a proxy's page) is judged only by its status.
  const error = text.trimStart().startsWith('<') ? element(safely(text, store), 'Error') : undefined
  return {
    status: response.status,
    code: problemName(textAt(error, 'Code'), redact),
    region: regionOf(response, error),
    passing,
  }
}

/** The error in the body of an answer that began as a success: S3 answers slow requests before they are done. */
export function problemIn(text: string, store: string, redact: Redact): S3Error | undefined {
  const error = element(readXml(text, store), 'Error')
  if (error === undefined) return undefined
  return { status: 200, code: problemName(textAt(error, 'Code'), redact), region: undefined, passing: undefined }
}

function safely(text: string, store: string) {
  try {
    return readXml(text, store)
  } catch {
    return undefined
  }
}

function regionOf(response: Response, error: ReturnType<typeof element>): string | undefined {
  const named = response.headers.get('x-amz-bucket-region') ?? textAt(error, 'Region')
  return /^[a-z0-9-]{1,40}$/.test(named) ? named : undefined
}

const wrongKey =
  'InvalidAccessKeyId SignatureDoesNotMatch AuthorizationHeaderMalformed InvalidSecurity MissingSecurityHeader'
const expiredKey = 'ExpiredToken InvalidToken TokenRefreshRequired'
const passes =
  'InternalError SlowDown ServiceUnavailable RequestTimeout RequestLimitExceeded OperationAborted Throttling ThrottlingException BandwidthLimitExceeded ConditionalRequestConflict'
const isAnyOf = (names: string, code: string): boolean => names.split(' ').includes(code)

/**
 * An error as a connector error: `source_changed` and `upload_lost` mean what callers make of them.
 * @param signer what signs requests, for messages
 */
export function connectorErrorOf(
  { status, code, passing }: S3Error,
  asked: { readonly bucket?: string; readonly key?: string; readonly permission: string },
  store: string,
  signer: 'access key' | 'role' = 'access key',
): ConnectorError {
  const bucket = asked.bucket === undefined ? 'its buckets' : `the bucket ${asked.bucket}`
  if (isAnyOf(wrongKey, code)) {
    const message = `${store} does not accept the access key: its ID is not known, or the secret is another key's. Set both again.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (isAnyOf(expiredKey, code)) {
    return new ConnectorError('expired_credentials', `The session of the access key has ended. Set a new key.`)
  }
  if (code === 'RequestTimeTooSkewed') {
    return new ConnectorError('clock_skewed', `The clock of this machine differs from that of ${store}; correct it.`)
  }
  if (isAnyOf(passes, code)) {
    return passing ?? new ConnectorError('platform_error', `${store} reports an internal error (${code}).`)
  }
  if (passing) return passing
  if (code === 'NoSuchBucket' || code === 'InvalidBucketName' || (status === 404 && asked.key === undefined)) {
    return new ConnectorError('bucket_not_found', `${store} has no bucket ${asked.bucket}. Check the path.`)
  }
  if (code === 'NoSuchUpload') return new ConnectorError('upload_lost', 'The upload is gone.')
  if (code === 'InvalidPart' || code === 'InvalidPartOrder') {
    return new ConnectorError('upload_lost', 'Parts of the upload are gone.')
  }
  if (status === 412) return new ConnectorError('source_changed', 'The object has been replaced.')
  if (status === 404) return new ConnectorError('source_changed', 'The object is gone.')
  if (code === 'InvalidObjectState') {
    return new ConnectorError('object_archived', 'The object is archived. Restore it first, then start again.')
  }
  if (code.startsWith('KMS.')) {
    const message = `AWS KMS refuses the key of ${bucket} (${code}). Check that the key is there and enabled, and that its policy allows the ${signer} kms:GenerateDataKey and kms:Decrypt.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 401 || status === 403) {
    const message = `The ${signer} may not do this to ${bucket} (${asked.permission}${code ? `; ${code}` : ''}). Allow it in the policy of ${signer === 'role' ? 'the role' : 'its user'} or of the bucket.`
    return new ConnectorError('permission_denied', message)
  }
  if (status >= 300 && status < 400) {
    const message = `${bucket} is in another region, and ${store} does not say in which. Set the region.`
    return new ConnectorError('invalid_address', message.replace(/^t/, 'T'))
  }
  return new ConnectorError(
    'request_refused',
    `${store} refused a request (status ${status}${code ? `, ${code}` : ''}).`,
  )
}
