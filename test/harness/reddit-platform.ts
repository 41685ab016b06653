import assert from 'node:assert/strict'
import type { BrowserContext } from 'playwright-core'
import { startPlatform } from '../../packages/connectors/test/platform-server.ts'
import { type RedditServer, redditRoutes, startReddit } from '../../packages/connectors/test/reddit-server.ts'
import { type ConsentServer, startConsentServer } from './consenting.ts'
import { connectorBySlug } from './fixtures.ts'

/** Reddit, as people in a browser see it who connect with a click. */

export const reddit = connectorBySlug('reddit-audiences')

export type RedditPlatform = {
  /** The API, which accepts only granted tokens. */
  readonly api: RedditServer
  /** The authorization server, which is not ours. */
  readonly consents: ConsentServer
  /** The page on which a person allows or declines. */
  readonly pageUrl: string
  /** The addresses at which a runner reaches both. */
  readonly routes: Readonly<Record<string, string>>
  /** Redirects a browser to the consent page of the test when the service sends it to the platform's page. */
  lead(context: BrowserContext): Promise<void>
  close(): Promise<void>
}

/** Starts the test servers of the platform: its API, its authorization server, and a page on which a person allows or declines. */
export async function startRedditPlatform(): Promise<RedditPlatform> {
  const { authorization } = reddit
  assert(authorization)
  const { server } = authorization
  const { pathname: token } = new URL(server.tokenUrl)
  const { pathname: authorize } = new URL(server.authorizeUrl)
  const api = await startReddit()
  const consents = await startConsentServer({ endpoints: { token, authorize }, onToken: api.accept })
  const page = await startPlatform(({ query }) => {
    const back = new URLSearchParams({ error: 'access_denied', state: query.get('state') ?? '' })
    const links = { Allow: `${consents.url}${authorize}?${query}`, Decline: `${query.get('redirect_uri')}?${back}` }
    const anchors = Object.entries(links).map(
      ([label, to]) => `<a href="${to.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">${label}</a>`,
    )
    return { text: `<!doctype html><title>Reddit</title><h1>Acme asks for access</h1>${anchors.join(' ')}` }
  })
  return {
    api,
    consents,
    pageUrl: page.url,
    routes: { ...redditRoutes(api.url), [new URL(server.tokenUrl).origin]: consents.url },
    lead: async (context) => {
      await context.route('**/oauth/authorize/*', async (route) => {
        const response = await route.fetch({ maxRedirects: 0 })
        const address = response.headers().location
        if (address === undefined) return route.fulfill({ response })
        assert(address.startsWith(`${server.authorizeUrl}?`), address)
        const location = address.replace(server.authorizeUrl, `${page.url}/`)
        await route.fulfill({ response, headers: { ...response.headers(), location } })
      })
    },
    close: async () => {
      for (const one of [api, consents, page]) await one.close()
    },
  }
}
