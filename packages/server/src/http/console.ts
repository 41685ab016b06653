import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import staticFiles from '@fastify/static'
import { consoleDistPath, pageRoots } from '@penstock/console'
import type { FastifyInstance } from 'fastify'
import { makeResource, pageType, sendResource } from '../documents/resource.ts'

/**
 * Content security policy of the console's page: it loads only our own scripts, pictures and fonts, and calls the API. Styles
 * are added inline at run time, scripts never are.
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

/** Names of assets contain a digest of their content, so a loaded asset never expires. */
export const assetMaxAge = '365d'

export const notBuilt =
  'The console is not built: run npm ci, with development dependencies, or copy packages/console/dist from another checkout. Then start the service again.\n'

/** Serves the console at `/` and at the addresses of its pages, and its files under `/console/`. */
export async function serveConsole(app: FastifyInstance, publicUrl: string): Promise<void> {
  const file = join(consoleDistPath, 'index.html')
  const page = existsSync(file)
    ? makeResource({
        type: pageType,
        body: placePage(readFileSync(file, 'utf8'), publicUrl, '/console/assets/'),
        maxAgeSeconds: 0,
        policy,
      })
    : undefined
  if (page) {
    await app.register(staticFiles, {
      root: join(consoleDistPath, 'assets'),
      prefix: '/console/assets/',
      preCompressed: true,
      index: false,
      redirect: false,
      decorateReply: false,
      immutable: true,
      maxAge: assetMaxAge,
    })
  }
  for (const path of ['/', ...pageRoots.flatMap((root) => [`/${root}`, `/${root}/*`])]) {
    app.get(path, { config: { operation: 'console' } }, (request, reply) =>
      page ? sendResource(request, reply, page) : reply.code(503).type('text/plain; charset=utf-8').send(notBuilt),
    )
  }
}

/** The built page refers to its files relative to itself. It is served at many addresses, possibly under a prefix. */
export function placePage(html: string, publicUrl: string, assets: string): string {
  const prefix = pathPrefixOf(publicUrl)
  return html
    .replaceAll('"./assets/', `"${prefix}${assets}`)
    .replace('name="penstock-prefix" content=""', `name="penstock-prefix" content="${prefix}"`)
    .replace('</head>', `<link rel="icon" href="${prefix}/docs/assets/icon.svg" type="image/svg+xml">\n</head>`)
}

/** The path of the public address without its trailing slash, escaped for an attribute. */
const pathPrefixOf = (publicUrl: string): string =>
  new URL(publicUrl).pathname.replace(/\/+$/, '').replaceAll('&', '&amp;').replaceAll('"', '&quot;')
