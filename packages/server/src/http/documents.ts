import { readFileSync } from 'node:fs'
import { configurationSchema, schemaFile } from '@penstock/configuration/schema'
import { type Connector, catalogueId, type Platform } from '@penstock/connector'
import { logoOf } from '@penstock/connectors'
import { basePath } from '@penstock/wire'
import { openApiDocument } from '@penstock/wire/openapi'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { connectorsPage, platformPage } from '../documents/catalogue-pages.ts'
import { connectorPage } from '../documents/connector-page.ts'
import { connectorMarkdown, connectorsMarkdown, guideMarkdown, llmsText, readSkill } from '../documents/for-models.ts'
import { guideSlugs, movedGuides, readGuide } from '../documents/guide-files.ts'
import { guidePage, guidesFoundPage, guidesPage } from '../documents/guides.ts'
import { pagePolicy } from '../documents/layout.ts'
import { createLinks } from '../documents/links.ts'
import { picturePaths, readPicture } from '../documents/pictures.ts'
import { referencePage, referencePolicy, referenceScript } from '../documents/reference.ts'
import { makeResource, markdownType, pageType, type Resource, sendResource } from '../documents/resource.ts'
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
export function serveDocuments(app: FastifyInstance, publicUrl: string, catalogue: ServedCatalogue): void {
  const links = createLinks(publicUrl)
  const contractPath = `${basePath}/openapi.json`
  const page = (body: string, policy = pagePolicy) => makeResource({ type: pageType, body, maxAgeSeconds: 0, policy })
  const markdown = (body: string) => makeResource({ type: markdownType, body, maxAgeSeconds: 0 })
  const asset = (type: string, body: string | Buffer) => makeResource({ type, body, maxAgeSeconds: 0 })
  const logo = (body: string) =>
    makeResource({
      type: svgType,
      body,
      maxAgeSeconds: logoMaxAgeSeconds,
      policy: logoPolicy,
      // Clients show logos on their own pages, because replies contain their addresses.
      shownElsewhere: true,
    })

  /** Serves a resource that is created at the first request and then kept. */
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
  /**
   * Serves one resource for each thing of the catalogue, by its slug in the path.
   * @param text the same as Markdown, at the path with `.md` and for clients that prefer it
   */
  const serveEach = <T extends { readonly slug: string }>(
    path: string,
    things: () => readonly T[],
    make: (thing: T) => Resource,
    { otherName = ({ slug }: T) => slug, text }: { otherName?: (thing: T) => string; text?: (thing: T) => string } = {},
  ) => {
    let made = new Map<string, Resource>()
    let of: unknown
    app.get<{ Params: { slug: string } }>(path, { config: { operation: 'docs' } }, async (request, reply) => {
      const [, slug, suffix] = /^(.*?)(\.md)?$/s.exec(request.params.slug) ?? []
      // A page of a platform names its connectors.
      if (of !== catalogue.all) made = new Map()
      of = catalogue.all
      const thing = things().find((one) => one.slug === slug || otherName(one) === slug) ?? refuse('not_found')
      if (suffix !== undefined && !text) refuse('not_found')
      const isText = text !== undefined && (suffix !== undefined || prefersMarkdown(request))
      const name = isText ? `${thing.slug}.md` : thing.slug
      const resource = made.get(name) ?? (isText ? markdown(text(thing)) : make(thing))
      made.set(name, resource)
      if (text && suffix === undefined) reply.header('vary', 'accept')
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
  const guides = guideSlugs().map((slug) => ({ slug }))
  let guidesList: Resource | undefined
  app.get<{ Querystring: { q?: string | string[] } }>(
    '/docs/guides',
    { config: { operation: 'docs' } },
    (request, reply) => {
      const search = [request.query.q ?? ''].flat()[0]?.trim() ?? ''
      if (search !== '') return sendResource(request, reply, page(guidesFoundPage(links, search)))
      guidesList ??= page(guidesPage(links))
      return sendResource(request, reply, guidesList)
    },
  )
  serveEach(
    '/docs/guides/:slug',
    () => guides,
    ({ slug }) => page(guidePage(links, readGuide(slug))),
    { text: ({ slug }) => guideMarkdown(links, readGuide(slug)) },
  )
  serve('/llms.txt', () => markdown(llmsText(links)))
  if (guides.length > 0) serve('/docs/skill.md', () => markdown(readSkill(links)))
  for (const [slug, guide] of Object.entries(movedGuides)) {
    app.get(`/docs/guides/${slug}`, { config: { operation: 'docs' } }, (_, reply) =>
      reply.redirect(`${links.guide(guide)}#${slug}`, 308),
    )
  }
  serve(`/docs/${schemaFile}`, () =>
    asset('application/schema+json; charset=utf-8', JSON.stringify(configurationSchema)),
  )
  let list: { readonly of: readonly Connector[]; readonly made: Resource } | undefined
  app.get('/docs/connectors', { config: { operation: 'docs' } }, (request, reply) => {
    const { listed, platforms } = catalogue
    reply.header('vary', 'accept')
    if (prefersMarkdown(request)) return sendResource(request, reply, markdown(connectorsMarkdown(links, listed)))
    if (list?.of !== listed) list = { of: listed, made: page(connectorsPage(links, { platforms, connectors: listed })) }
    return sendResource(request, reply, list.made)
  })
  app.get('/docs/connectors.md', { config: { operation: 'docs' } }, (request, reply) =>
    sendResource(request, reply, markdown(connectorsMarkdown(links, catalogue.listed))),
  )
  serveEach(
    '/docs/connectors/:slug',
    () => catalogue.all,
    (connector) => page(connectorPage(links, connector)),
    { text: (connector) => connectorMarkdown(links, connector) },
  )
  serveEach(
    '/docs/platforms/:slug',
    () => catalogue.platforms,
    (platform) =>
      page(
        platformPage(
          links,
          platform,
          catalogue.all.filter((connector) => connector.platform.slug === platform.slug),
        ),
      ),
  )
  // Lists of connectors name a platform by its identifier.
  serveEach(
    '/logos/:slug.svg',
    () => catalogue.platforms,
    (platform) => logo(logoOf(platform)),
    { otherName: ({ slug }) => catalogueId('platform', slug) },
  )

  for (const path of picturePaths()) {
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

/** Whether a client asks for Markdown, and not for a page as browsers do. */
const prefersMarkdown = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /\btext\/markdown\b/i.test(accept) && !/\btext\/html\b/i.test(accept)

const readBeside = (name: string) => readFileSync(new URL(name, pageFilesFolder), 'utf8')
