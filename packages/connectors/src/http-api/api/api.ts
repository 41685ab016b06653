import { type ConnectorContext, ConnectorError, redactedText } from '@penstock/connector'
import { ExpressionError, evaluate, isTrue } from '@penstock/expressions/json'
import { type Answer, isSuccess } from '../../platform-api/call.ts'
import { openPlatform } from '../../platform-api/client.ts'
import { waitMsOf } from '../../platform-api/rate-limit.ts'
import { connectorErrorOfStatus } from '../../platform-api/status.ts'
import type { ApiRequest, ApiStream, ErrorRule } from '../definition/definition.ts'
import { definitionOf } from '../definition/parse-definition.ts'
import { fill, fillDeep, fillTexts, type TemplateValues } from '../definition/template.ts'
import { type ApiAnswer, readAnswerBody, scopeOfAnswer } from './answers.ts'
import { credentialsOf, keyParameters } from './credentials.ts'
import { paced } from './pace.ts'
import { type ApiServers, serversOf } from './servers.ts'
import { createShield } from './shield.ts'

/** One request for a page: parameters of the page, or its address, which was checked already. */
export type PageRequest = {
  readonly values: TemplateValues
  readonly parameters: Readonly<Record<string, string | number>>
  readonly address?: string
}

/** An API within one job. */
export type Api = {
  /** The answer of a page; `undefined` if a rule of the stream ignores it. Throws connector errors. */
  ask(stream: ApiStream, request: PageRequest): Promise<ApiAnswer | undefined>
  /** Sends the request of a page once. Resolves with any answer, and the address without the key. Throws what the network throws. */
  send(stream: ApiStream, request: PageRequest): Promise<{ readonly url: string; readonly answer: Answer }>
  /** An answer that a transfer can use; `undefined` if a rule of the stream ignores it. Throws connector errors. */
  usable(stream: ApiStream, answer: Answer): ApiAnswer | undefined
  /** The address of a next page that an answer gave, without the key. Throws `malformed_response` if it is on another server. */
  nextAddress(stream: ApiStream, given: string): string
}

/** A wait that a rule asks for and the answer says nothing of, in milliseconds. */
const waitMs = 60_000

/** Opens the API of a configuration. Throws `invalid_address` if one of its addresses cannot be used. */
export function openApi(given: ConnectorContext): Api {
  const { shield, context } = createShield(given)
  const servers = serversOf(context.secrets)
  const name = servers.base.host
  const credentials = shield.watch(credentialsOf(context, name))
  const client = openPlatform(paced(context, definitionOf(given).pace), {
    name,
    baseUrl: '',
    ...(credentials && { credentials }),
  })
  const keys = keyParameters(context)
  const baseOf = (stream: ApiStream) => baseIn(servers, stream)
  const callOf = (stream: ApiStream, { values, parameters, address }: PageRequest) => {
    const { method, pages } = stream
    const place = pages?.in ?? 'query'
    const pageTexts = Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, String(value)]))
    return {
      path: address ?? pathOf(baseOf(stream), stream.path, values),
      method,
      unpacks: true,
      query: address === undefined ? { ...fillTexts(stream.query, values), ...(place === 'query' && pageTexts) } : {},
      headers: headersOf({ ...fillTexts(stream.headers, values), ...(place === 'header' && pageTexts) }),
      ...bodyOf(stream, values, place === 'body' ? parameters : {}),
    }
  }
  const usable = (stream: ApiStream, whole: Answer): ApiAnswer | undefined => {
    const answer = shield.answer(whole)
    const rule = ruleOf(stream, answer)
    if (rule?.action === 'ignore') return undefined
    const error = errorBy(rule, answer, name)
    if (error) throw error
    if (rule?.action !== 'accept' && !isSuccess(answer)) throw connectorErrorOfStatus(name, answer)
    // "No content" is a page without records, whatever the form.
    if (answer.status === 204) return undefined
    if (answer.text === '' && stream.recordsOptional) return { ...answer, content: {} }
    if (answer.isDamaged) throw notText(name, stream)
    // No escape hides a secret in a value that was read.
    return { ...answer, content: shield.content(readAnswerBody(whole.text, stream.answer, name)) }
  }
  return {
    ask: (stream, request) =>
      explained(async () => {
        const answer = await client.ask({
          ...callOf(stream, request),
          repeatable: true,
          expects: (one) => /^(ignore|accept)$/.test(ruleOf(stream, shield.answer(one))?.action ?? ''),
          errorOf: (one) => errorBy(ruleOf(stream, shield.answer(one)), one, name),
        })
        return usable(stream, answer)
      }),
    send: (stream, request) =>
      explained(async () => {
        const call = callOf(stream, request)
        const search = new URLSearchParams(call.query).toString()
        const answer = await client.ask({ ...call, repeatable: false, expects: () => true })
        return { url: search === '' ? call.path : `${call.path}?${search}`, answer }
      }),
    usable,
    nextAddress(stream, given) {
      const url = URL.canParse(given, baseOf(stream).href) ? new URL(given, baseOf(stream).href) : undefined
      if (!url || !servers.origins.has(url.origin) || url.username !== '') {
        throw new ConnectorError('malformed_response', `${name} gave an address of the next page on another server.`)
      }
      url.hash = ''
      for (const key of keys) url.searchParams.delete(key)
      // A parameter that had a secret is sent with each request in its own place.
      for (const [key, value] of [...url.searchParams]) if (value.includes(redactedText)) url.searchParams.delete(key)
      return url.href
    },
  }
}

const notText = (name: string, { answer }: ApiStream): ConnectorError =>
  new ConnectorError(
    'malformed_response',
    `${name} sent ${answer.form.toUpperCase()} that is not text in UTF-8, and names no other encoding (charset) for it.`,
  )

/** Runs what evaluates expressions. Throws `invalid_setting` for one that takes too much. */
export async function explained<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    throw asSettingError(error)
  }
}

/** An error of an expression as the `invalid_setting` that it is; any other error unchanged. */
export const asSettingError = (error: unknown): unknown =>
  error instanceof ExpressionError
    ? new ConnectorError('invalid_setting', `An expression of the definition ${error.message}; correct it.`)
    : error

function bodyOf(stream: ApiStream, values: TemplateValues, parameters: PageRequest['parameters']) {
  if (stream.form) {
    const texts = Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, String(value)]))
    return { form: { ...fillTexts(stream.form, values), ...texts } }
  }
  const filled = fillDeep(stream.body, values)
  const body = Object.keys(parameters).length > 0 ? withParameters(filled, parameters) : filled
  return body === undefined ? {} : { body: typeof body === 'object' ? body : JSON.stringify(body) }
}

/** A body with the parameters of a page, whose names can have points: `variables.after`. */
function withParameters(body: unknown, parameters: PageRequest['parameters']): object {
  const filled: Record<string, unknown> = { ...(typeof body === 'object' ? body : {}) }
  for (const [name, value] of Object.entries(parameters)) {
    const keys = name.split('.')
    let at = filled
    for (const key of keys.slice(0, -1)) {
      const below = at[key]
      const next = typeof below === 'object' && below !== null && !Array.isArray(below) ? { ...below } : {}
      at[key] = next
      at = next as Record<string, unknown>
    }
    at[keys.at(-1) ?? name] = value
  }
  return filled
}

/** The server of a request. Throws `invalid_setting` if it is none of the configuration. */
export function baseIn({ base, others }: ApiServers, { server }: Pick<ApiRequest, 'server'>): URL {
  const found = server === undefined ? base : others.get(server)
  if (found) return found
  const message = `The definition names the server ${server}, which is not one of the other servers; add its address.`
  throw new ConnectorError('invalid_setting', message)
}

/** The address of a request. Throws connector errors, and `ExpressionError`. */
export function pathOf(base: URL, path: string, values: TemplateValues): string {
  const filled = fill(path, values, encodeURIComponent)
  // A value could lead to another folder of the server.
  if (/(^|\/)\.\.?(\/|$)/.test(filled)) {
    throw new ConnectorError('malformed_response', 'A value in a path is . or .., which cannot be part of it.')
  }
  return base.origin + base.pathname.replace(/\/$/, '') + filled
}

/** Headers that can be sent. Throws `invalid_setting`. */
export function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const wrong = Object.entries(headers).find(([, value]) => !/^[\x20-\x7e]*$/.test(value))
  if (!wrong) return headers
  throw new ConnectorError('invalid_setting', `The header ${wrong[0]} would have characters that no header can have.`)
}

/** The first rule that fits an answer. */
export const ruleOf = ({ errors }: Pick<ApiStream, 'errors'>, answer: Answer): ErrorRule | undefined =>
  errors.find((rule) => fits(rule, answer))

const fits = ({ status, contains, when }: ErrorRule, answer: Answer): boolean =>
  (status.length === 0 || status.includes(answer.status)) &&
  (contains === undefined || answer.text.includes(contains)) &&
  (when === undefined || isTrue(evaluate(when, scopeOfAnswer(answer, answer.json), Date.now())))

/** The error that a rule makes of an answer. */
export function errorBy(rule: ErrorRule | undefined, answer: Answer, name: string): ConnectorError | undefined {
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
