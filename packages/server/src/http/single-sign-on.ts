import { errors } from '@penstock/wire'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { layOutArticle, layOutPage, pagePolicy } from '../documents/layout.ts'
import { createLinks, type Links } from '../documents/links.ts'
import { html } from '../documents/markup.ts'
import { pageType } from '../documents/resource.ts'
import { asRefusal } from './replies.ts'
import { createSessionCookie } from './session-cookie.ts'

/**
 * What a browser meets while a person signs in with the identity provider of their organization: the address that leads to
 * the provider, and the one that it sends the browser back to. Neither is an operation of the API.
 */

type Page = { readonly status: number; readonly title: string; readonly message: string; readonly next?: string }

/** The flow behind these addresses; the service provides it. */
export type SingleSignOnFlow = {
  describe(organizationId: unknown): Promise<{ readonly organization: string } | Page>
  open(organizationId: unknown): Promise<{ readonly url: string; readonly browser: string } | Page>
  finish(
    answer: Readonly<Record<'state' | 'code' | 'error' | 'iss', unknown>>,
    cookie: unknown,
    place: { readonly address: string; readonly userAgent: string | null; readonly requestId: string },
    signal: AbortSignal,
  ): Promise<{ readonly session: { readonly token: string; readonly maxAgeSeconds: number } } | Page>
}

const cookieName = 'penstock-single-sign-on'
/** Longer than a sign-in may take, so that a late answer is said to be late. */
const cookieSeconds = 3_600
/** Addresses of these pages hold codes, which no other page learns. */
const pageHeaders = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

/** Serves the way to the provider, and the way back. */
export function serveSingleSignOn(app: FastifyInstance, publicUrl: string, flow: SingleSignOnFlow): void {
  const links = createLinks(publicUrl)
  const session = createSessionCookie(publicUrl)
  const options = { config: { operation: 'singleSignOn' }, exposeHeadRoute: false }
  app.get<{ Querystring: Record<string, unknown> }>('/sso/callback', options, (request, reply) =>
    answer(reply, links, async () => {
      const { state, code, error, iss } = request.query
      const place = {
        ...{ address: request.ip, requestId: request.id },
        userAgent: request.headers['user-agent'] ?? null,
      }
      const given = cookieOf(request.headers.cookie)
      const finished = await flow.finish({ state, code, error, iss }, given, place, request.signal)
      if ('status' in finished) return finished
      const cookies = [session.set(finished.session), cookie(publicUrl, '', 0)]
      void reply.headers({ ...pageHeaders, 'set-cookie': cookies })
      return reply.redirect(links.signedIn, 303)
    }),
  )
  app.get<{ Params: { organizationId: string } }>('/sso/:organizationId', options, (request, reply) =>
    answer(reply, links, async () => {
      const { organizationId } = request.params
      // Another site could otherwise sign someone in to an organization that is not theirs, unseen.
      if (request.headers['sec-fetch-site'] === 'cross-site' || request.headers['sec-fetch-site'] === 'same-site') {
        const described = await flow.describe(organizationId)
        return 'status' in described ? described : confirmPage(described.organization)
      }
      const opened = await flow.open(organizationId)
      if ('status' in opened) return opened
      void reply.headers({ ...pageHeaders, 'set-cookie': cookie(publicUrl, opened.browser, cookieSeconds) })
      return reply.redirect(opened.url, 303)
    }),
  )
}

/** It leads to the same address, this time from a page of ours. */
const confirmPage = (organization: string): Page => ({
  status: 200,
  title: `Sign in to ${organization}`,
  message: `You are about to sign in to ${organization}. Continue only if this is your organization.`,
  next: 'Continue',
})

async function answer(
  reply: FastifyReply,
  links: Links,
  work: () => Promise<Page | FastifyReply>,
): Promise<FastifyReply> {
  let page: Page | FastifyReply
  try {
    page = await work()
  } catch (error) {
    const refusal = asRefusal(error)
    if (!refusal) throw error
    const { status, message } = errors[refusal.code]
    if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds))
    page = { status, title: 'The sign-in was not completed', message }
  }
  if (!('title' in page)) return page
  const { status, title, message, next } = page
  const [address, label] = next === undefined ? [links.console(), 'Back to the sign-in page'] : ['', next]
  const body = html`<h1>${title}</h1>
<p>${message}</p>
<p><a href="${address}">${label}</a></p>`
  return reply
    .code(status)
    .headers({ ...pageHeaders, 'content-security-policy': pagePolicy })
    .type(pageType)
    .send(layOutPage(links, { title: `${title} · Penstock`, place: 'none', body: layOutArticle([], body) }))
}

/** Only these two addresses get it, and no script; Lax, since the provider sends the browser here. */
const cookie = (publicUrl: string, value: string, maxAgeSeconds: number): string => {
  const { protocol, pathname } = new URL(publicUrl)
  const path = `${pathname.replace(/\/+$/, '')}/sso`
  const secure = protocol === 'https:' ? '; Secure' : ''
  return `${cookieName}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`
}

const cookieOf = (header = ''): string | undefined =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${cookieName}=`))
    ?.slice(cookieName.length + 1)
