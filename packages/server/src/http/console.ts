import { existsSync } from 'node:fs'
import { join } from 'node:path'
import staticFiles from '@fastify/static'
import { consoleDirectory, pageRoots } from '@penstock/console'
import type { FastifyInstance, FastifyReply } from 'fastify'

/**
 * What the console's page may load: our own scripts, pictures and fonts, and the API. Styles are written into the page
 * while it runs; no script ever is.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Names of assets hold a digest of their content: what was loaded once is good for ever. */
const assetMaxAge = '365d'

const notBuilt = 'The console is not built: run npm run build -w packages/console, then load this page again.\n'

/** Serves the console at `/` and at the addresses of its pages, and its files under `/console/`. */
export async function serveConsole(app: FastifyInstance): Promise<void> {
  await app.register(staticFiles, {
    root: join(consoleDirectory, 'assets'),
    prefix: '/console/assets/',
    preCompressed: true,
    index: false,
    redirect: false,
    immutable: true,
    maxAge: assetMaxAge,
  })
  const sendPage = (_: unknown, reply: FastifyReply) => {
    if (!existsSync(join(consoleDirectory, 'index.html'))) {
      return reply.code(503).type('text/plain; charset=utf-8').send(notBuilt)
    }
    reply.headers({ 'content-security-policy': policy, 'referrer-policy': 'same-origin' })
    return reply.sendFile('index.html', consoleDirectory, { cacheControl: false })
  }
  for (const path of ['/', ...pageRoots.flatMap((root) => [`/${root}`, `/${root}/*`])]) {
    app.get(path, { config: { operation: 'console' } }, sendPage)
  }
}
