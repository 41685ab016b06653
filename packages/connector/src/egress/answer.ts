import type http from 'node:http'
import { createGunzip } from 'node:zlib'
import { asConnectorError, ConnectorError } from '../connector-error.ts'
import type { EgressBounds } from './bounds.ts'
import { connectorErrorOfError, strangeStatus } from './errors.ts'

/** Parameters for reading a response. */
export type AnswerReading = {
  readonly url: URL
  readonly method: string
  /** Between two pieces of the body, in milliseconds. */
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** The body is not decompressed: a part of a compressed body cannot be decompressed. */
  readonly raw: boolean
  /** The body is a file, which can be slow. */
  readonly isFile: boolean
  readonly bounds: EgressBounds
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
  /** Error of the request after the response had begun. It is more precise than the error of the interrupted response. */
  readonly error: () => unknown
}

/**
 *  The answer as `fetch` would return it. Throws a `ConnectorError` if this is not possible; the caller closes the message
 *  then.
 */
export function answerOf(message: http.IncomingMessage, reading: AnswerReading): Response {
  const { url, method, raw } = reading
  const status = message.statusCode ?? 0
  if (status < 200 || status > 599) throw strangeStatus(url.host, status)
  const headers = headersOf(message, url.host)
  const isPacked = headers.get('content-encoding')?.trim().toLowerCase() === 'gzip' && !raw
  const bodiless = method === 'HEAD' || status === 204 || status === 205 || status === 304
  // Of these, only 205 can have a body. The end of the body is not awaited.
  if (status === 205) message.destroy()
  else if (bodiless) message.resume()
  if (isPacked && !bodiless) for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  const response = new Response(bodiless ? null : bodyOf(message, reading, isPacked), { status, headers })
  Object.defineProperty(response, 'url', { value: url.href })
  return response
}

function headersOf(message: http.IncomingMessage, host: string): Headers {
  const headers = new Headers()
  try {
    for (const [name, values] of Object.entries(message.headersDistinct)) {
      for (const value of values ?? []) headers.append(name, value)
    }
  } catch {
    // The error would quote the header.
    throw new ConnectorError('malformed_response', `${host} answered with headers that HTTP does not allow.`)
  }
  return headers
}

/** The body of an answer, read on demand. Regardless of the server, a read ends at the signal and at the limits. */
function bodyOf(message: http.IncomingMessage, reading: AnswerReading, isPacked: boolean): ReadableStream<Uint8Array> {
  const { timeoutMs, signal, now } = reading
  const { host } = reading.url
  const unpacked = isPacked ? message.pipe(createGunzip()) : undefined
  const chunks: AsyncIterator<Uint8Array> = (unpacked ?? message)[Symbol.asyncIterator]()
  /** Rejects the read that waits. */
  let interrupt: ((reason: unknown) => void) | undefined
  let bytes = 0
  let waitedMs = 0

  const release = (reason?: unknown) => {
    signal?.removeEventListener('abort', stop)
    if (!message.complete || reason !== undefined) message.destroy()
    unpacked?.destroy()
    interrupt?.(reason)
  }
  const stop = () => release(signal?.reason)
  // If the answer is interrupted, there may be no reader. The next read throws the error.
  message.on('error', (error) => unpacked?.destroy(error))
  unpacked?.on('error', () => {})
  message.once('close', () => signal?.removeEventListener('abort', stop))
  if (signal?.aborted) stop()
  else signal?.addEventListener('abort', stop, { once: true })

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const from = now()
        const timer = setTimeout(() => release(silent(host, timeoutMs)), timeoutMs)
        try {
          signal?.throwIfAborted()
          const { done, value } = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
            interrupt = reject
            chunks.next().then(resolve, reject)
          })
          waitedMs += now() - from
          bytes += value?.length ?? 0
          if (!done) {
            assertInBounds(reading, bytes, waitedMs, unpacked?.bytesWritten)
            controller.enqueue(value)
          } else {
            release()
            controller.close()
          }
        } catch (error) {
          release(error)
          controller.error(
            signal?.aborted
              ? signal.reason
              : connectorErrorOfError(asConnectorError(error) ?? reading.error() ?? error, host),
          )
        } finally {
          clearTimeout(timer)
          interrupt = undefined
        }
      },
      cancel() {
        release('cancelled')
      },
    },
    { highWaterMark: 0 },
  )
}

/** @param packedBytes number of compressed bytes of these */
function assertInBounds(
  reading: AnswerReading,
  bytes: number,
  waitedMs: number,
  packedBytes: number | undefined,
): void {
  const { url, isFile, bounds } = reading
  const { host } = url
  const leastPerSecond = isFile ? bounds.fileBytesPerSecond : bounds.answerBytesPerSecond
  const allowedMs = (isFile ? bounds.fileMs : bounds.answerMs) + (bytes / leastPerSecond) * 1000
  if (waitedMs > allowedMs) {
    const message = `${host} sent ${bytes} bytes in ${Math.round(waitedMs / 1000)} seconds, less than ${leastPerSecond} bytes per second. Check the server and the network.`
    throw new ConnectorError('timeout', message)
  }
  if (bytes > bounds.bodyBytes) {
    throw new ConnectorError('response_too_large', `${host} sent more than ${bounds.bodyBytes} bytes.`)
  }
  if (packedBytes !== undefined && bytes > bounds.unpackedBytes + packedBytes * bounds.unpackedRatio) {
    const message = `${host} sent a compressed answer that unpacks to more than ${bounds.unpackedRatio} times its size. Turn off compression at the server.`
    throw new ConnectorError('response_too_large', message)
  }
}

const silent = (host: string, timeoutMs: number): ConnectorError =>
  new ConnectorError('timeout', `${host} has not answered within ${timeoutMs / 1000} seconds.`)
