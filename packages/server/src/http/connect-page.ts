import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import staticFiles from '@fastify/static'
import { consoleDistPath } from '@penstock/console'
import type { FastifyInstance } from 'fastify'
import { makeResource, pageType, sendResource } from '../documents/resource.ts'
import { assetMaxAge, notBuilt, placePage } from './console.ts'

/**
 * The page of connect links, and the script with which other sites open it. The page is the same for every link. The
 * organization chooses which sites can show it in a frame.
 */

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** Long enough to spare requests, short enough that a correction arrives the same day. */
const scriptMaxAgeSeconds = 3_600

/** Serves the page at `/connect/{id}`, its files below `/connect/assets/`, and the script at `/connect.js`. */
export async function serveConnectPage(
  app: FastifyInstance,
  publicUrl: string,
  /** The origins whose pages can show the page of a link. Empty if the link does not exist. */
  originsOf: (id: string) => Promise<readonly string[]>,
): Promise<void> {
  const root = join(consoleDistPath, 'connect')
  const file = join(root, 'connect.html')
  const page = existsSync(file) ? placePage(readFileSync(file, 'utf8'), publicUrl, '/connect/assets/') : undefined
  if (page !== undefined) {
    await app.register(staticFiles, {
      root: join(root, 'assets'),
      prefix: '/connect/assets/',
      preCompressed: true,
      index: false,
      redirect: false,
      decorateReply: false,
      immutable: true,
      maxAge: assetMaxAge,
    })
  }
  const config = { operation: 'connectPage' }
  app.get<{ Params: { id: string } }>('/connect/:id', { config }, async ({ params: { id } }, reply) => {
    if (page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(notBuilt)
    const origins = /^[0-9a-f]{16}$/.test(id) ? await originsOf(id) : []
    const ancestors = origins.length > 0 ? origins.join(' ') : "'none'"
    return reply
      .headers({
        'cache-control': 'no-store',
        'content-security-policy': `${policy}; frame-ancestors ${ancestors}`,
        'referrer-policy': 'no-referrer',
        // A site that opens the page in a window hears from it.
        'cross-origin-opener-policy': 'unsafe-none',
      })
      .type(pageType)
      .send(page)
  })
  const scriptFile = join(root, 'connect.js')
  const script = existsSync(scriptFile)
    ? makeResource({
        type: 'text/javascript; charset=utf-8',
        body: readFileSync(scriptFile),
        maxAgeSeconds: scriptMaxAgeSeconds,
        shownElsewhere: true,
      })
    : undefined
  app.get('/connect.js', { config }, (request, reply) => {
    if (!script) return reply.code(503).type('text/plain; charset=utf-8').send(notBuilt)
    // For pages that name its digest (subresource integrity).
    void reply.header('access-control-allow-origin', '*')
    return sendResource(request, reply, script)
  })
}
