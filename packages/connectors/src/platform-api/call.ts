import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { type ConnectorContext, ConnectorError, readWhole } from '@penstock/connector'
import { parseJson } from './json.ts'

/** One part of a multipart form. */
export type FormPart = {
  readonly name: string
  readonly content: string | Uint8Array
  /** Makes it a file with this name. */
  readonly fileName?: string
  /** Its media type. For a file, `application/octet-stream` by default. */
  readonly type?: string
}

/** One request to a platform's HTTP API, with at most one of the four kinds of body. */
export type Call = {
  readonly url: string
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. A text or bytes are sent unchanged, for callers that signed them or send a file. */
  readonly body?: unknown
  /** Sent as `application/x-www-form-urlencoded`. */
  readonly form?: Readonly<Record<string, string>>
  /** Sent as `multipart/form-data`. */
  readonly parts?: readonly FormPart[]
  /** Time limit of the answer, in milliseconds. Two minutes by default. */
  readonly timeoutMs?: number
  /** Size limit of the answer, in bytes. 16 MiB by default. */
  readonly bytesMax?: number
  /** Whether a gzip body is unpacked. The limit `bytesMax` also applies to the unpacked body. */
  readonly unpacks?: boolean
}

/** A response with any status. */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  /** The parsed body. `undefined` if it is not JSON, such as a gateway's page. */
  readonly json: unknown
  /** The body, as it came. */
  readonly text: string
  /** Whether some bytes of the body are not valid in its encoding. They are U+FFFD in the text. */
  readonly isDamaged?: boolean
  /** Size of the body that was sent, in bytes. */
  readonly bytesSent: number
}

/** Whether the status of an answer is a success (2xx). */
export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip)

/** Platforms take their time with thousands of rows. */
const timeoutMs = 120_000

/** Sends a request and reads the whole response. Throws errors of the egress, and `response_too_large`. */
export async function call(
  { egress, signal }: Pick<ConnectorContext, 'egress' | 'signal'>,
  asked: Call,
): Promise<Answer> {
  const { url, method = 'GET', headers = {} } = asked
  const body = bodyOf(asked)
  const bytesSent = body === undefined ? 0 : Buffer.byteLength(body.content)
  const response = await egress.request(url, {
    method,
    headers: {
      accept: 'application/json',
      // The length is set explicitly, since servers expect no body with DELETE.
      ...(body === undefined ? {} : { 'content-type': body.type, 'content-length': String(bytesSent) }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: body.content }),
    signal,
    timeoutMs: asked.timeoutMs ?? timeoutMs,
  })
  // Some platforms begin with a byte order mark, which is not JSON; decoding removes it.
  const whole = await readWhole(response, new URL(url).host, asked.bytesMax)
  const bytes = asked.unpacks ? await unpacked(whole, url, asked.bytesMax) : whole
  const decoder = decoderOf(response.headers.get('content-type') ?? '', bytes)
  const text = decoder.decode(bytes)
  const isDamaged = decoder.encoding === 'utf-8' && !isUtf8(bytes)
  const { status, headers: given } = response
  return { status, headers: given, json: parseJson(text), text, ...(isDamaged && { isDamaged }), bytesSent }
}

/** The decoder of a body: by the charset in its type, else by the declaration of an XML document, else of UTF-8. */
function decoderOf(type: string, bytes: Buffer): InstanceType<typeof TextDecoder> {
  const declared = /^<\?xml[^>]{0,100}\sencoding=["']([\w.-]{1,40})["']/.exec(bytes.subarray(0, 200).toString('latin1'))
  const named = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type)?.[1] ?? declared?.[1]
  try {
    return new TextDecoder(named)
  } catch {
    // An encoding that nobody knows.
    return new TextDecoder()
  }
}

/** The unpacked bytes of a gzip file. Other bytes do not change. Throws `malformed_response` and `response_too_large`. */
async function unpacked(bytes: Buffer, url: string, bytesMax = 16 << 20): Promise<Buffer> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return await gunzip(bytes, { maxOutputLength: bytesMax })
  } catch (error) {
    const { host } = new URL(url)
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new ConnectorError('response_too_large', `${host} sent a file that unpacks to more than ${bytesMax} bytes.`)
    }
    throw new ConnectorError('malformed_response', `${host} sent a damaged gzip file.`)
  }
}

function bodyOf({ body, form, parts }: Call): { content: string | Uint8Array; type: string } | undefined {
  if (form) return { content: new URLSearchParams(form).toString(), type: 'application/x-www-form-urlencoded' }
  if (parts) return multipart(parts)
  if (body === undefined) return undefined
  const isReady = typeof body === 'string' || body instanceof Uint8Array
  return { content: isReady ? body : JSON.stringify(body), type: 'application/json' }
}

/** A form as RFC 7578 defines it, with a boundary that does not occur in any of its parts. */
function multipart(parts: readonly FormPart[]): { content: Uint8Array; type: string } {
  const boundary = `penstock-${randomBytes(16).toString('hex')}`
  const pieces = parts.flatMap(({ name, content, fileName, type }) => {
    const file = fileName === undefined ? '' : `; filename="${quoted(fileName)}"`
    const mediaType = type ?? (fileName === undefined ? undefined : 'application/octet-stream')
    const kind = mediaType === undefined ? '' : `\r\nContent-Type: ${mediaType}`
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}${kind}\r\n\r\n`
    return [Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')]
  })
  return {
    content: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
    type: `multipart/form-data; boundary=${boundary}`,
  }
}

const quoted = (text: string): string => text.replace(/["\r\n]/g, (character) => encodeURIComponent(character))

/** The first step of a check: whether the server responds, even with a refusal. */
export async function assertConnectivity({ egress, signal }: ConnectorContext, origin: string): Promise<string> {
  const response = await egress.request(origin, { signal })
  await response.body?.cancel()
  return `${new URL(origin).host} answers.`
}
