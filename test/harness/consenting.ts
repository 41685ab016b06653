import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Events, type MutableResponse, OAuth2Server, type TokenRequest } from 'oauth2-mock-server'
import type { Reply, TestService } from './service.ts'

/** The platform at which people consent: an authorization server that is not ours. */
export type ConsentServer = {
  readonly url: string
  /** Requests to its token endpoint, in order. */
  readonly asked: readonly { readonly form: Readonly<Record<string, string>>; readonly headers: IncomingHttpHeaders }[]
  /** Changes its next answer of the token endpoint. */
  change(edit: (response: MutableResponse) => void): void
  /** From now on it refuses every refresh token that it has granted so far. */
  revoke(): void
  close(): Promise<void>
}

/** @param given `endpoints`: paths that replace `/authorize` and `/token`; `onToken` receives each access token */
export async function startConsentServer({
  endpoints = {},
  onToken = () => {},
}: {
  endpoints?: { authorize?: string; token?: string }
  onToken?: (accessToken: string) => void
} = {}): Promise<ConsentServer> {
  const server = new OAuth2Server(undefined, undefined, { endpoints })
  await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  const asked: { form: Record<string, string>; headers: IncomingHttpHeaders }[] = []
  let edit: ((response: MutableResponse) => void) | undefined
  let number = 0
  const revoked = new Set<string>()
  server.service.on(
    Events.BeforeResponse,
    (response: MutableResponse, request: { body: TokenRequest; headers: IncomingHttpHeaders }) => {
      asked.push({ form: { ...(request.body as unknown as Record<string, string>) }, headers: request.headers })
      number++
      if (typeof response.body === 'object') {
        Object.assign(response.body, { refresh_token: tokenOf(number), scope: scopeOf(request.body) })
      }
      if (revoked.has(asked.at(-1)?.form.refresh_token ?? '')) {
        Object.assign(response, { body: { error: 'invalid_grant' }, statusCode: 400 })
      } else if (typeof response.body === 'object') onToken(String(response.body.access_token))
      const editing = edit
      edit = undefined
      editing?.(response)
    },
  )
  const { url = '' } = server.issuer
  return {
    url,
    asked,
    change: (given) => {
      edit = given
    },
    revoke: () => {
      for (let granted = 1; granted <= number; granted++) revoked.add(tokenOf(granted))
    },
    close: () => server.stop(),
  }
}

const tokenOf = (number: number) => `canary-refresh-token-${number}`

/** A server grants what was requested when the person consented. */
const scopeOf = ({ scope }: TokenRequest): string | undefined => (typeof scope === 'string' ? scope : undefined)

/** A browser: follows no redirect on its own, and keeps its cookies as browsers do. */
export function openBrowser({ send }: Pick<TestService, 'send'>) {
  const cookies = new Map<string, string>()
  const get = async (address: string): Promise<Reply> => {
    const { pathname, search } = new URL(address, 'http://penstock.test')
    const pairs = [...cookies].map((pair) => pair.join('='))
    const headers: Record<string, string> = pairs.length > 0 ? { cookie: ['other=1', ...pairs].join('; ') } : {}
    const reply = await send({ method: 'GET', path: pathname + search, headers })
    // The test environment joins the headers. Our attributes contain no commas.
    for (const set of reply.headers['set-cookie']?.split(',') ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (/; Max-Age=0(;|$)/.test(set)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return reply
  }
  return {
    get,
    /** Opens a link. Returns the address of the platform that it leads to. */
    open: async (link: string): Promise<URL> => {
      const reply = await get(link)
      assert.equal(reply.status, 303, reply.text)
      return new URL(reply.headers.location ?? '')
    },
    /** Its cookies by name, the oldest first. */
    cookies: cookies as ReadonlyMap<string, string>,
  }
}

/**
 * A person consents: the platform, which answers elsewhere in tests, is visited there.
 * @returns the address that the platform sends the browser back to
 */
export async function consent({ url }: ConsentServer, address: URL): Promise<string> {
  const response = await fetch(`${url}/authorize${address.search}`, { redirect: 'manual' })
  assert.equal(response.status, 302, await response.text())
  return response.headers.get('location') ?? ''
}

/** A server whose answers a test says itself: `undefined` never answers. */
export async function startSpokenServer() {
  let answer: { status: number; body: string; headers?: Record<string, string> } | undefined
  let come = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    request.resume()
    come.resolve()
    if (!answer) return
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    say: (given: typeof answer) => {
      answer = given
    },
    /** Resolves once the next request has come. */
    asked: () => {
      come = Promise.withResolvers<void>()
      return come.promise
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
