import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createLinks, type Links } from '../documents/links.ts'
import { answerPage, pageHeaders } from './browser-pages.ts'
import { createStateCookies } from './cookies.ts'

/**
 * Routes for the browser while a connector is authorized: the link to the platform, and the platform's redirect URI. The routes
 * accept no token of the API and are not operations.
 */

type Page = {
  readonly status: number
  readonly title: string
  readonly message: string
  /** The sub-account that the page leads back to. `elsewhere` means that the flow did not start in the console. */
  readonly accountId?: string | 'elsewhere'
  /** Link that the page shows instead. */
  readonly next?: { readonly address: string; readonly label: string }
}

type ConfirmPage = { readonly platform: string; readonly connector: string; readonly receiver: string }

/** The flow behind these addresses. The service implements it. */
export type AuthorizationFlow = {
  describe(link: unknown): Promise<ConfirmPage | Page>
  open(link: unknown): Promise<{ readonly url: string; readonly state: string; readonly browser: string } | Page>
  finish(
    answer: Readonly<Record<'state' | 'code' | 'error' | 'iss', unknown>>,
    cookie: unknown,
    signal: AbortSignal,
  ): Promise<Page>
}

/** Serves the link and the address of the way back. */
export function serveAuthorizations(app: FastifyInstance, publicUrl: string, flow: AuthorizationFlow): void {
  const links = createLinks(publicUrl)
  const cookies = createStateCookies(publicUrl, 'penstock-authorization')
  const config = { operation: 'authorization' }
  const options = {
    config,
    // A program that only inspects a link, such as the preview of a chat, must not use it up.
    exposeHeadRoute: false,
  }
  app.get<{ Params: { link: string } }>('/oauth/authorize/:link', options, (request, reply) =>
    answer(reply, links, async () => {
      if (isFromElsewhere(request)) {
        const described = await flow.describe(request.params.link)
        return 'status' in described ? described : confirmPage(described)
      }
      const opened = await flow.open(request.params.link)
      if ('status' in opened) return opened
      void reply.headers({ ...pageHeaders, 'set-cookie': cookies.set(request.headers, opened.state, opened.browser) })
      return reply.redirect(opened.url, 303)
    }),
  )
  app.get<{ Querystring: Record<string, unknown> }>('/oauth/callback', options, (request, reply) =>
    answer(reply, links, () => {
      const { state, code, error, iss } = request.query
      const browser = cookies.read(request.headers, state)
      void reply.header('set-cookie', cookies.remove(request.headers, state))
      return flow.finish({ state, code, error, iss }, browser, request.signal)
    }),
  )
}

/**
 * Whether the browser reports that the person did not come from one of our pages: by a link in a mail or on another
 * site, or by an address that was entered. Other programs report nothing.
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
