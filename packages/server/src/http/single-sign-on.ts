import type { FastifyInstance, FastifyReply } from 'fastify'
import { createLinks, type Links } from '../documents/links.ts'
import { answerPage, pageHeaders } from './browser-pages.ts'
import { clientAddressOf } from './client-address.ts'
import { createStateCookies } from './cookies.ts'
import { createSessionCookie } from './session-cookie.ts'

/**
 * Routes for the browser while a person signs in with the identity provider of their organization: the link to the
 * provider, and its redirect URI. Neither is an operation of the API.
 */

type Page = {
  readonly status: number
  readonly title: string
  readonly message: string
  readonly next?: string
  readonly link?: string
}

/** The flow behind these addresses. The service implements it. */
export type SingleSignOnFlow = {
  describe(organizationId: unknown): Promise<{ readonly organization: string } | Page>
  open(
    organizationId: unknown,
  ): Promise<{ readonly url: string; readonly state: string; readonly browser: string } | Page>
  finish(
    answer: Readonly<Record<'state' | 'code' | 'error' | 'iss', unknown>>,
    cookie: unknown,
    place: { readonly address: string; readonly userAgent: string | null; readonly requestId: string },
    signal: AbortSignal,
    sessionToken: string | undefined,
  ): Promise<{ readonly session: { readonly token: string; readonly maxAgeSeconds: number } } | Page>
}

/** Serves the way to the provider, and the way back. */
export function serveSingleSignOn(app: FastifyInstance, publicUrl: string, flow: SingleSignOnFlow): void {
  const links = createLinks(publicUrl)
  const session = createSessionCookie(publicUrl)
  const cookies = createStateCookies(publicUrl, 'penstock-single-sign-on')
  const options = { config: { operation: 'singleSignOn' }, exposeHeadRoute: false }
  app.get<{ Querystring: Record<string, unknown> }>('/sso/callback', options, (request, reply) =>
    answer(reply, links, async () => {
      const { state, code, error, iss } = request.query
      const place = {
        address: clientAddressOf(request),
        requestId: request.id,
        userAgent: request.headers['user-agent'] ?? null,
      }
      const given = cookies.read(request.headers, state)
      void reply.header('set-cookie', cookies.remove(request.headers, state))
      const finished = await flow.finish(
        { state, code, error, iss },
        given,
        place,
        request.signal,
        session.read(request.headers),
      )
      if ('status' in finished) return finished
      void reply.headers({ ...pageHeaders, 'set-cookie': session.set(finished.session) })
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
      void reply.headers({ ...pageHeaders, 'set-cookie': cookies.set(request.headers, opened.state, opened.browser) })
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
      pageOf: ({ next, link, ...page }: Page) => ({
        ...page,
        next:
          link !== undefined
            ? { address: links.confirmSignIn(link), label: 'Sign in and confirm' }
            : next === undefined
              ? { address: links.console(), label: 'Back to the sign-in page' }
              : { address: '', label: next },
      }),
    },
    work,
  )
