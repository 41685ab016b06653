import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createLinks, type Links } from '../documents/links.ts'
import { answerPage, browserCookie, cookieValue, pageHeaders } from './browser-pages.ts'

/**
 * What a browser meets while a connector is authorized: the link that leads to the platform, and the address that the
 * platform sends it back to. Neither takes a token of the API; neither is an operation of it.
 */

type Page = {
  readonly status: number
  readonly title: string
  readonly message: string
  /** The sub-account whose connectors the page leads back to; `elsewhere`: it was not the console that led there. */
  readonly accountId?: string | 'elsewhere'
  /** Where it leads in place of that. */
  readonly next?: { readonly address: string; readonly label: string }
}

type ConfirmPage = { readonly platform: string; readonly connector: string; readonly receiver: string }

/** The flow behind these addresses; the service provides it. */
export type AuthorizationFlow = {
  describe(link: unknown): Promise<ConfirmPage | Page>
  open(link: unknown, cookie: unknown): Promise<{ readonly url: string; readonly browser: string } | Page>
  finish(
    answer: Readonly<Record<'state' | 'code' | 'error' | 'iss', unknown>>,
    cookie: unknown,
    signal: AbortSignal,
  ): Promise<Page>
}

const cookieName = 'penstock-authorization'
/** Longer than a link counts, so that a late answer is said to be late. */
const cookieSeconds = 3_600

/** Serves the link and the address of the way back. */
export function serveAuthorizations(app: FastifyInstance, publicUrl: string, flow: AuthorizationFlow): void {
  const links = createLinks(publicUrl)
  const config = { operation: 'authorization' }
  const options = {
    config,
    // What only looks at a link, such as the preview of a chat, must not use it up.
    exposeHeadRoute: false,
  }
  app.get<{ Params: { link: string } }>('/oauth/authorize/:link', options, (request, reply) =>
    answer(reply, links, async () => {
      if (isFromElsewhere(request)) {
        const described = await flow.describe(request.params.link)
        return 'status' in described ? described : confirmPage(described)
      }
      const opened = await flow.open(request.params.link, cookieOf(request.headers.cookie))
      if ('status' in opened) return opened
      void reply.headers({ ...pageHeaders, 'set-cookie': cookie(publicUrl, opened.browser) })
      return reply.redirect(opened.url, 303)
    }),
  )
  app.get<{ Querystring: Record<string, unknown> }>('/oauth/callback', options, (request, reply) =>
    answer(reply, links, () => {
      const { state, code, error, iss } = request.query
      return flow.finish({ state, code, error, iss }, cookieOf(request.headers.cookie), request.signal)
    }),
  )
}

/**
 * Whether a browser says that the person did not come from a page of ours: by a link in a mail or on another site, or by
 * an address that was entered. What is no browser says nothing.
 */
const isFromElsewhere = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] !== undefined && headers['sec-fetch-site'] !== 'same-origin'

/** The link leads to the same address, this time from a page of ours. */
const confirmPage = ({ platform, connector, receiver }: ConfirmPage): Page => ({
  status: 200,
  title: `Authorize ${connector}`,
  message: `You are about to give ${receiver} access to your account at ${platform}. Continue only if you know who asked you to do so.`,
  next: { address: '', label: `Continue to ${platform}` },
})

const answer = (reply: FastifyReply, links: Links, work: () => Promise<Page | FastifyReply>): Promise<FastifyReply> =>
  answerPage<Page>(
    reply,
    links,
    {
      refusedTitle: 'The authorization was not completed',
      pageOf: ({ accountId, next, ...page }: Page) => ({
        ...page,
        next:
          next ??
          (accountId === 'elsewhere' ? undefined : { address: links.console(accountId), label: 'Back to the console' }),
      }),
    },
    work,
  )

const cookie = (publicUrl: string, value: string): string =>
  browserCookie(publicUrl, { name: cookieName, value, path: '/oauth', maxAgeSeconds: cookieSeconds })

const cookieOf = (header: string | undefined) => cookieValue(header, cookieName)
