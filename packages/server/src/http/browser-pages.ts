import { errors } from '@penstock/wire'
import type { FastifyReply } from 'fastify'
import { layOutArticle, layOutPage, pagePolicy } from '../documents/layout.ts'
import type { Links } from '../documents/links.ts'
import { html } from '../documents/markup.ts'
import { pageType } from '../documents/resource.ts'
import { asRefusal } from './replies.ts'

/** Pages of flows that lead a browser to another site and back. They are not part of the API. */

/** Text of a page, and the address of its link. */
export type BrowserPage = {
  readonly status: number
  readonly title: string
  readonly message: string
  /** Undefined: the person closes the page. */
  readonly next: { readonly address: string; readonly label: string } | undefined
}

/** Addresses of these pages hold codes, which no other page learns. */
export const pageHeaders = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

/**
 * Answers with the page that `work` returns, unless `work` has answered itself. A refusal becomes a page too.
 * @param refusedTitle the title of such a page
 * @param pageOf the page of a result of the flow, with its link
 */
export async function answerPage<
  P extends { readonly status: number; readonly title: string; readonly message: string },
>(
  reply: FastifyReply,
  links: Links,
  { refusedTitle, pageOf }: { refusedTitle: string; pageOf: (page: P | Omit<BrowserPage, 'next'>) => BrowserPage },
  work: () => Promise<P | FastifyReply>,
): Promise<FastifyReply> {
  let found: P | FastifyReply | Omit<BrowserPage, 'next'>
  try {
    found = await work()
  } catch (error) {
    const refusal = asRefusal(error)
    if (!refusal) throw error
    const { status, message } = errors[refusal.code]
    if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds))
    found = { status, title: refusedTitle, message }
  }
  if (!('title' in found)) return found
  const { status, title, message, next } = pageOf(found)
  const body = html`<h1>${title}</h1>
<p>${message}</p>
${next ? html`<p><a href="${next.address}">${next.label}</a></p>` : html`<p>Close this page and continue where you came from.</p>`}`
  return reply
    .code(status)
    .headers({ ...pageHeaders, 'content-security-policy': pagePolicy })
    .type(pageType)
    .send(layOutPage(links, { title: `${title} · Penstock`, place: 'none', body: layOutArticle([], body) }))
}
