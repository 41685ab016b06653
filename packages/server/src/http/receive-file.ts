import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ActingAccount, FileReceiver, ReceivedFile } from '../call.ts'
import { refuse } from '../refusal.ts'
import { allowSlowBody } from './listener.ts'

/** Bodies that are files: passed on as they arrive, and never whole in memory. */

export const fileType = 'application/octet-stream'

/**
 * Looks at the headers of a request whose body is a file, before anything of the file is read: refuses with
 * `unsupported_media_type` or `payload_too_large`.
 */
export function admitFile({ headers, raw }: FastifyRequest, bytesMax: number): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== fileType || !/^(identity)?$/i.test(headers['content-encoding'] ?? '')) {
    const message = `must be ${fileType}, without Content-Encoding: send the bytes of the file as they are`
    refuse('unsupported_media_type', [{ field: 'header.content-type', message }])
  }
  if ((declaredBytes(raw) ?? 0) > bytesMax) {
    const message = `is larger than ${bytesMax / 1024 ** 2} MiB, the most for one file; PENSTOCK_UPLOAD_MB sets it`
    refuse('payload_too_large', [{ field: 'body', message }])
  }
}

/**
 * Stores the body of a request, which can take as long as a file upload. If that fails, the connection ends with the answer,
 * since the client has not sent the rest of the body.
 */
export async function receiveBody(
  receiver: FileReceiver,
  account: ActingAccount,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ReceivedFile> {
  const { body, raw } = request
  if (!(body instanceof Readable)) return refuse('invalid_request', [{ field: 'body', message: missing }])
  allowSlowBody(raw)
  try {
    // To destroy the stream would close the connection before the answer.
    const stream = body.iterator({ destroyOnReturn: false })
    return await receiver.receive(account, { stream, declaredBytes: declaredBytes(raw) })
  } catch (error) {
    reply.header('connection', 'close')
    throw error
  }
}

const missing = 'is missing: send the content of the file'

function declaredBytes({ headers }: Pick<IncomingMessage, 'headers'>): number | undefined {
  const length = headers['content-length']
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}
