import { type ConnectorContext, ConnectorError, type Values } from '@penstock/connector'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import { type Credentials, openPlatform } from '../platform-api/client.ts'
import { openTokens } from '../platform-api/oauth.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'
import type { ApiStream, ErrorRule } from './definition.ts'
import { fill, fillDeep, type TemplateValues } from './template.ts'

/** One request for a page: parameters of the page, or its address, which was checked already. */
export type PageRequest = {
  readonly values: TemplateValues
  readonly parameters: Readonly<Record<string, string | number>>
  readonly address?: string
}

/** An API within one job. */
export type Api = {
  /** The answer of a page; `undefined` if a rule of the stream ignores it. Throws connector errors. */
  ask(stream: ApiStream, request: PageRequest): Promise<Answer | undefined>
  /** The address of a next page that an answer gave, without the key. Throws `malformed_response` if it is on another server. */
  nextAddress(given: string): string
}

/** A wait that a rule asks for and the answer says nothing of, in milliseconds. */
const waitMs = 60_000

/** Opens the API of a configuration. Throws `invalid_address` if its base URL cannot be used. */
export function openApi(context: ConnectorContext): Api {
  const { secrets } = context
  const base = baseOf(secrets)
  const name = base.host
  const credentials = credentialsOf(context, name)
  const client = openPlatform(context, { name, baseUrl: '', ...(credentials && { credentials }) })
  const inQuery = secrets.authentication === 'API key' && secrets.keyIn === 'query' ? String(secrets.keyName) : ''
  return {
    async ask(stream, { values, parameters, address }) {
      const { method, errors, pages } = stream
      const isInBody = pages?.in === 'body'
      const texts = (given: Readonly<Record<string, string>>) =>
        Object.fromEntries(Object.entries(given).map(([key, value]) => [key, fill(value, values)]))
      const pageQuery = Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, String(value)]))
      const filled = fillDeep(stream.body, values)
      const body = isInBody ? { ...(filled as object | undefined), ...parameters } : filled
      const ruleOf = (answer: Answer) => errors.find((rule) => fits(rule, answer))
      const answer = await client.ask({
        path: address ?? pathOf(base, stream.path, values),
        method,
        repeatable: true,
        query: address === undefined ? { ...texts(stream.query), ...(isInBody ? {} : pageQuery) } : {},
        headers: headersOf(texts(stream.headers)),
        ...(body === undefined ? {} : { body: typeof body === 'object' ? body : JSON.stringify(body) }),
        expects: (one) => ruleOf(one)?.action === 'ignore',
        errorOf: (one) => errorBy(ruleOf(one), one, name),
      })
      if (ruleOf(answer)?.action === 'ignore') return undefined
      if (isSuccess(answer) && answer.json !== undefined) return answer
      throw new ConnectorError('malformed_response', `${name} answered with something other than JSON.`)
    },
    nextAddress(given) {
      const url = URL.canParse(given, base.href) ? new URL(given, base.href) : undefined
      if (url?.origin !== base.origin || url.username !== '') {
        throw new ConnectorError('malformed_response', `${name} gave an address of the next page on another server.`)
      }
      url.hash = ''
      if (inQuery !== '') url.searchParams.delete(inQuery)
      return url.href
    },
  }
}

function baseOf({ url }: Values): URL {
  const base = URL.canParse(String(url)) ? new URL(String(url)) : undefined
  if (!base || !/^https?:$/.test(base.protocol) || base.search !== '' || base.hash !== '' || base.username !== '') {
    const message =
      'The base URL is invalid. It looks like https://api.example.com/v1, without a user name and a query.'
    throw new ConnectorError('invalid_address', message)
  }
  base.pathname = base.pathname.replace(/\/+$/, '')
  return base
}

function pathOf(base: URL, path: string, values: TemplateValues): string {
  const filled = fill(path, values, encodeURIComponent)
  // A value could lead to another folder of the server.
  if (/(^|\/)\.\.?(\/|$)/.test(filled)) {
    throw new ConnectorError('malformed_response', 'A partition is . or .., which cannot be part of a path.')
  }
  return base.origin + base.pathname.replace(/\/$/, '') + filled
}

function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const wrong = Object.entries(headers).find(([, value]) => !/^[\x20-\x7e]*$/.test(value))
  if (!wrong) return headers
  throw new ConnectorError('invalid_setting', `The header ${wrong[0]} would have characters that no header can have.`)
}

const fits = ({ status, contains }: ErrorRule, answer: Answer): boolean =>
  (status.length === 0 || status.includes(answer.status)) && (contains === undefined || answer.text.includes(contains))

function errorBy(rule: ErrorRule | undefined, answer: Answer, name: string): ConnectorError | undefined {
  const afterMs = waitMsOf(answer)
  const said = `(status ${answer.status}), as a rule of the definition says`
  switch (rule?.action) {
    case 'retry':
      return new ConnectorError('platform_error', `${name} could not answer ${said}.`, { afterMs })
    case 'wait':
      return new ConnectorError('rate_limited', `${name} requests a pause ${said}.`, { afterMs: afterMs ?? waitMs })
    case 'fail':
      return new ConnectorError('request_refused', `${name} refused the request ${said}.`)
    default:
      return undefined
  }
}

function credentialsOf(context: ConnectorContext, platform: string): Credentials | undefined {
  const { secrets } = context
  const fixed = (headers: Readonly<Record<string, string>>): Credentials => {
    if (Object.values(headers).every((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value))) {
      return { renews: false, headers: async () => headers }
    }
    throw new ConnectorError('invalid_credentials', 'The key or token has characters that no header can have.')
  }
  const keyName = String(secrets.keyName ?? 'X-API-Key')
  const text = (key: string) => String(secrets[key] ?? '')
  switch (secrets.authentication) {
    case 'API key':
      if (secrets.keyIn !== 'query') return fixed({ [keyName]: text('apiToken') })
      return { renews: false, in: 'query', headers: async () => ({ [keyName]: text('apiToken') }) }
    case 'bearer token':
      return fixed({ authorization: `Bearer ${text('apiToken')}` })
    case 'user name and password': {
      const pair = Buffer.from(`${text('username')}:${text('password')}`).toString('base64')
      return fixed({ authorization: `Basic ${pair}` })
    }
    case 'client credentials':
    case 'refresh token': {
      const isRefreshing = secrets.authentication === 'refresh token'
      return openTokens(context, {
        platform,
        url: text('tokenUrl'),
        grant: isRefreshing ? { type: 'refresh_token', rotates: true } : { type: 'client_credentials' },
        client: {
          id: text('clientId'),
          secret: text('clientSecret'),
          in: secrets.clientIn === 'header' ? 'header' : 'body',
        },
        ...(secrets.scope ? { scope: text('scope') } : {}),
      })
    }
    default:
      return undefined
  }
}
