import { basePath, type ErrorCode } from '@penstock/wire'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { layOutArticle, layOutPage, pagePolicy } from '../documents/layout.ts'
import { createLinks } from '../documents/links.ts'
import { html } from '../documents/markup.ts'
import { pageType } from '../documents/resource.ts'
import type { Refusal } from '../refusal.ts'

const code: ErrorCode = 'not_found'

/**
 * The page that a browser shows at an address without a page.
 * @param publicUrl where callers reach the service; the links of the page begin with its path
 * @returns a function that answers with the page if a browser opens an address outside of the API that is not found. Otherwise
 * it returns undefined, and the refusal gets the envelope of the API (section 2.1 of the specification)
 */
export function createUnknownPage(
  publicUrl: string,
): (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) => FastifyReply | undefined {
  const links = createLinks(publicUrl)
  const body = html`<h1>Page not found</h1>
<p class="lead">There is no page at this address. Check it for typing errors, or continue here:</p>
<ul class="entries">
<li><h2><a href="${links.console()}">Console</a></h2><p>Your sub-accounts, connectors, connections and transfers.</p></li>
<li><h2><a href="${links.guides}">Guides</a></h2><p>The first transfer, step by step, and everything after it.</p></li>
<li><h2><a href="${links.reference}">API reference</a></h2><p>Every operation, with its parameters and responses.</p></li>
<li><h2><a href="${links.connectors}">Connectors</a></h2><p>The platforms of the catalogue, and what each connector can do.</p></li>
</ul>`
  const page = layOutPage(links, {
    title: 'Page not found · Penstock',
    place: 'none',
    body: layOutArticle([], body),
  })
  return (request, reply, refusal) => {
    if (refusal.code !== code || !isOpened(request)) return undefined
    return reply.code(404).header('content-security-policy', pagePolicy).type(pageType).send(page)
  }
}

/** Whether a browser that opens a page sent the request, and not a client of the API. */
function isOpened({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const [path = ''] = url.split('?')
  if (path === basePath || path.startsWith(`${basePath}/`)) return false
  return (headers.accept ?? '').split(',').some(isPage)
}

/** Whether a media range of `Accept` includes HTML pages, and is not refused by its weight (RFC 9110, section 12.5.1). */
const isPage = (range: string): boolean =>
  /^\s*text\/html\s*(?:;|$)/i.test(range) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/i.test(range)
