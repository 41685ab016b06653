import { limits, operations } from '@penstock/wire'
import type { FastifyInstance } from 'fastify'
import { refuse } from '../refusal.ts'
import { fileType } from './receive-file.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads request bodies: JSON in UTF-8, and the files of operations that take one, which are passed on unread. An empty body under the JSON content type is no body, since
 * many clients send the header with every DELETE.
 */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: limits.bodyBytesMax },
    (request, body, done) => {
      const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1]
      if (
        (charset && !/^utf-?8$/i.test(charset)) ||
        !/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')
      ) {
        refuseInParser(done, () => refuse('unsupported_media_type'))
      } else if (body.length === 0) {
        done(null, undefined)
      } else {
        refuseInParser(done, () => parse(request, decode(body as Buffer), done))
      }
    },
  )
  app.addContentTypeParser(fileType, (request, body, done) => {
    const { operation } = request
    if (operation !== undefined && 'file' in operations[operation]) done(null, body)
    else refuseInParser(done, () => refuse('unsupported_media_type'))
  })
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    return refuse('invalid_request', [{ field: 'body', message: 'is not UTF-8' }])
  }
}

/** Fastify's parsers report through a callback. An exception thrown in a parser would not reach the error handler. */
function refuseInParser(done: (error: Error) => void, work: () => void): void {
  try {
    work()
  } catch (error) {
    done(error as Error)
  }
}
