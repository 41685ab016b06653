import { createHash, createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Answer, Judged } from './failing-proxy.ts'

/** A key that the store knows, and the session token that belongs to it. */
export type S3Key = { readonly id: string; readonly secret: string; readonly token?: string }

/**
 * Verifies requests as S3 does, from AWS' description of Signature Version 4 alone: with which key, of what age, over which
 * headers, and that the body is the one that was signed; and that writes carry a checksum, as Object Lock demands. Answers what is wrong as S3 would.
 */
export function judgeS3(
  keys: readonly S3Key[],
  now: () => number = Date.now,
  serves: 's3' | 'sts' | 'redshift' | 'redshift-serverless' = 's3',
): (asked: Judged) => Answer | undefined {
  return ({ method, url, headers, body }) => {
    const given = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    )
    if (!given) return headers.authorization ? refuse(400, 'AuthorizationHeaderMalformed') : refuse(403, 'AccessDenied')
    const [, credential = '', signedHeaders = '', signature] = given
    const [id, day, region, service, end] = credential.split('/')
    const key = keys.find((each) => each.id === id)
    if (!key) return refuse(403, 'InvalidAccessKeyId')
    if (service !== serves || end !== 'aws4_request') return refuse(400, 'AuthorizationHeaderMalformed')
    const time = String(headers['x-amz-date'] ?? '')
    if (!/^\d{8}T\d{6}Z$/.test(time) || !time.startsWith(day ?? '-')) return refuse(403, 'AccessDenied')
    const timestamp = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    if (Math.abs(timestamp - now()) > 15 * 60_000) return refuse(403, 'RequestTimeTooSkewed')
    if (headers['x-amz-security-token'] !== key.token) return refuse(400, 'InvalidToken')
    const named = signedHeaders.split(';')
    const unsigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && !named.includes(name))
    if (unsigned.length > 0 || !named.includes('host')) return refuse(403, 'AccessDenied')
    const own = createHash('sha256').update(body).digest('hex')
    const digest = String(headers['x-amz-content-sha256'] ?? (serves === 's3' ? '' : own))
    if (digest !== own) return refuse(400, 'XAmzContentSHA256Mismatch')
    // A bucket with Object Lock requires a checksum for bytes of an object: an MD5, or the CRC32 that clients of AWS send.
    const { 'content-md5': md5, 'x-amz-checksum-crc32': crc } = headers
    if (serves === 's3' && method === 'PUT' && (md5 ?? crc) === undefined) return refuse(400, 'InvalidRequest')
    if (md5 !== undefined && md5 !== createHash('md5').update(body).digest('base64')) return refuse(400, 'BadDigest')
    if (crc !== undefined && crc !== crc32Of(body)) return refuse(400, 'BadDigest')

    const [path = '/', query = ''] = url.split('?')
    const canonical = [
      method,
      path
        .split('/')
        .map((segment) => encode(decodeURIComponent(segment)))
        .join('/'),
      [...query.split('&')]
        .filter((pair) => pair !== '')
        .map((pair) => {
          const [name = '', value = ''] = pair.split('=')
          return `${encode(decodeURIComponent(name))}=${encode(decodeURIComponent(value))}`
        })
        .sort()
        .join('&'),
      ...named.map(
        (name) =>
          `${name}:${String(headers[name] ?? '')
            .trim()
            .replace(/ +/g, ' ')}`,
      ),
      '',
      signedHeaders,
      digest,
    ].join('\n')
    const scope = `${day}/${region}/${serves}/aws4_request`
    const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`
    const signing = [day ?? '', region ?? '', serves, 'aws4_request'].reduce<string | Buffer>(
      (secret, part) => createHmac('sha256', secret).update(part).digest(),
      `AWS4${key.secret}`,
    )
    const expected = createHmac('sha256', signing).update(toSign).digest('hex')
    return signature === expected ? undefined : refuse(403, 'SignatureDoesNotMatch')
  }
}

/** An error as S3 answers it. */
export const refuse = (status: number, code: string, more = '', headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/xml', ...headers },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>No.</Message>${more}<RequestId>4442587FB7D0A2F9</RequestId></Error>`,
})

function crc32Of(body: Buffer): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(body))
  return bytes.toString('base64')
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
