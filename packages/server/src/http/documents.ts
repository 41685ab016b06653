import { readFileSync } from 'node:fs'
import { configurationSchema, schemaFile } from '@penstock/configuration/schema'
import { type Connector, catalogueId, type Platform } from '@penstock/connector'
import { logoOf } from '@penstock/connectors'
import { basePath } from '@penstock/wire'
import { openApiDocument } from '@penstock/wire/openapi'
import type { FastifyInstance } from 'fastify'
import { connectorsPage, platformPage } from '../documents/catalogue-pages.ts'
import { connectorPage } from '../documents/connector-page.ts'
import { guideSlugs, readGuide } from '../documents/guide-files.ts'
import { guidePage, guidesFoundPage, guidesPage } from '../documents/guides.ts'
import { pagePolicy } from '../documents/layout.ts'
import { createLinks } from '../documents/links.ts'
import { pictures, readPicture } from '../documents/pictures.ts'
import { referencePage, referencePolicy, referenceScript } from '../documents/reference.ts'
import { makeResource, pageType, type Resource, sendResource } from '../documents/resource.ts'
import { loadScalarScript } from '../documents/scalar.ts'
import { pageFilesFolder } from '../places.ts'
import { refuse } from '../refusal.ts'

const logoMaxAgeSeconds = 86_400
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'"
const scriptType = 'text/javascript; charset=utf-8'
const svgType = 'image/svg+xml'

/** The catalogue, as its pages show it. */
export type ServedCatalogue = {
  readonly all: readonly Connector[]
  readonly listed: readonly Connector[]
  readonly platforms: readonly Platform[]
}

/**
 * Serves the documentation for people and their tools: the contract, its pages, a page for each connector and platform,
 * and the logos.
 */
export function serveDocuments(
  app: FastifyInstance,
  publicUrl: string,
  { all: connectors, listed: listedConnectors, platforms }: ServedCatalogue,
): void {
  const links = createLinks(publicUrl)
  const contractPath = `${basePath}/openapi.json`
  const page = (body: string, policy = pagePolicy) => makeResource({ type: pageType, body, maxAgeSeconds: 0, policy })
  const asset = (type: string, body: string | Buffer) => makeResource({ type, body, maxAgeSeconds: 0 })
  const logo = (body: string) =>
    makeResource({
      type: svgType,
      body,
      maxAgeSeconds: logoMaxAgeSeconds,
      policy: logoPolicy,
      // Clients show the logos that replies name in pages of their own.
      shownElsewhere: true,
    })

  /** Serves what is made when it is first asked for, and kept from then on. */
  const serve = (path: string, make: () => Resource | Promise<Resource>, operation = 'docs') => {
    let made: Promise<Resource> | undefined
    app.get(path, { config: { operation } }, async (request, reply) => {
      made ??= Promise.resolve(make()).catch((error) => {
        made = undefined
        throw error
      })
      return sendResource(request, reply, await made)
    })
  }
  /** Serves one resource for each thing of the catalogue, by its slug in the path. */
  const serveEach = <T extends { readonly slug: string }>(
    path: string,
    things: readonly T[],
    make: (thing: T) => Resource,
    otherName = ({ slug }: T) => slug,
  ) => {
    const made = new Map<string, Resource>()
    const bySlug = new Map(things.flatMap((thing) => [thing.slug, otherName(thing)].map((name) => [name, thing])))
    app.get<{ Params: { slug: string } }>(path, { config: { operation: 'docs' } }, async (request, reply) => {
      const thing = bySlug.get(request.params.slug) ?? refuse('not_found')
      const resource = made.get(thing.slug) ?? make(thing)
      made.set(thing.slug, resource)
      return sendResource(request, reply, resource)
    })
  }

  serve(
    contractPath,
    () =>
      makeResource({
        type: 'application/json; charset=utf-8',
        body: JSON.stringify(openApiDocument(publicUrl)),
        maxAgeSeconds: 0,
      }),
    'openapi',
  )
  serve('/docs', () => page(referencePage(links), referencePolicy(publicUrl)))
  app.get('/docs/', { config: { operation: 'docs' } }, (_, reply) => reply.redirect(links.reference, 308))
  const guides = page(guidesPage(links))
  app.get<{ Querystring: { q?: string | string[] } }>(
    '/docs/guides',
    { config: { operation: 'docs' } },
    (request, reply) => {
      const search = [request.query.q ?? ''].flat()[0]?.trim() ?? ''
      return sendResource(request, reply, search === '' ? guides : page(guidesFoundPage(links, search)))
    },
  )
  serveEach(
    '/docs/guides/:slug',
    guideSlugs().map((slug) => ({ slug })),
    ({ slug }) => page(guidePage(links, readGuide(slug))),
  )
  serve(`/docs/${schemaFile}`, () =>
    asset('application/schema+json; charset=utf-8', JSON.stringify(configurationSchema)),
  )
  serve('/docs/connectors', () => page(connectorsPage(links, { platforms, connectors: listedConnectors })))
  serveEach('/docs/connectors/:slug', connectors, (connector) => page(connectorPage(links, connector)))
  serveEach('/docs/platforms/:slug', platforms, (platform) =>
    page(
      platformPage(
        links,
        platform,
        connectors.filter((connector) => connector.platform.slug === platform.slug),
      ),
    ),
  )
  // Lists of connectors name a platform by its identifier.
  serveEach(
    '/logos/:slug.svg',
    platforms,
    (platform) => logo(logoOf(platform)),
    ({ slug }) => catalogueId('platform', slug),
  )

  for (const { path } of pictures()) {
    serve(`/docs/pictures/${path}`, () =>
      makeResource({
        type: path.endsWith('.png') ? 'image/png' : svgType,
        body: readPicture(path),
        maxAgeSeconds: 0,
        policy: logoPolicy,
      }),
    )
  }
  serve('/docs/assets/style.css', () => asset('text/css; charset=utf-8', readBeside('style.css')))
  serve('/docs/assets/reference.css', () => asset('text/css; charset=utf-8', readBeside('reference.css')))
  serve('/docs/assets/icon.svg', () => logo(readBeside('icon.svg')))
  serve('/docs/assets/reference.js', () => asset(scriptType, referenceScript(links.contract(contractPath))))
  serve('/docs/assets/reference-repairs.js', () => asset(scriptType, readBeside('reference-repairs.js')))
  serve('/docs/assets/scalar.js', async () => asset(scriptType, await loadScalarScript()))
}

const readBeside = (name: string) => readFileSync(new URL(name, pageFilesFolder), 'utf8')
