import type { FastifyInstance, FastifyReply } from 'fastify'
import { createLinks, type Links } from '../documents/links.ts'
import { answerPage, browserCookie, cookieValue, pageHeaders } from './browser-pages.ts'
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

const answer = (reply: FastifyReply, links: Links, work: () => Promise<Page | FastifyReply>): Promise<FastifyReply> =>
  answerPage<Page>(
    reply,
    links,
    {
      refusedTitle: 'The sign-in was not completed',
      pageOf: ({ next, ...page }: Page) => ({
        ...page,
        next:
          next === undefined
            ? { address: links.console(), label: 'Back to the sign-in page' }
            : { address: '', label: next },
      }),
    },
    work,
  )

const cookie = (publicUrl: string, value: string, maxAgeSeconds: number): string =>
  browserCookie(publicUrl, { name: cookieName, value, path: '/sso', maxAgeSeconds })

const cookieOf = (header: string | undefined) => cookieValue(header, cookieName)
