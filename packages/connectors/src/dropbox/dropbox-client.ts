import { asConnectorError, type ConnectorContext, ConnectorError, type ConnectorErrorCode } from '@penstock/connector'
import { errorTextOf } from '../object-stores/answers.ts'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform } from '../platform-api/client.ts'
import { type JsonObject, objectIn, parseJson, textIn } from '../platform-api/json.ts'
import { openTokens } from '../platform-api/oauth.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'
import { authorization } from './authorization.ts'
import { errorOf, summaryOf } from './dropbox-errors.ts'

const api = 'https://api.dropboxapi.com'
const content = 'https://content.dropboxapi.com'

/** A part is sent within this time. */
const sendTimeoutMs = 300_000

/** Options of a request. */
type Asking = {
  /** Whether the request is idempotent. Then it is repeated after a transient error. */
  readonly repeatable?: boolean
  /** Refusals of these summaries are answers, too. */
  readonly takes?: RegExp
}

/** Dropbox, within one job. Every function throws connector errors. `source_changed` means that a path does not exist. */
export type DropboxClient = {
  /** Asks an endpoint whose arguments and answer are JSON: `files/list_folder`. */
  ask(endpoint: string, args: object | null, asking?: Asking): Promise<Answer & { readonly json: JsonObject }>
  /** Sends bytes to an endpoint, which Dropbox compares with their hash if the arguments have it. */
  send(endpoint: string, args: object, bytes: Uint8Array, asking?: Asking): Promise<Answer & { json: JsonObject }>
  /** The content of a file, from an offset on, read piece by piece. */
  download(path: string, fromByte: number): Promise<Response>
}

/** Opens Dropbox with the refresh token of the connector. */
export function openDropbox(context: ConnectorContext): DropboxClient {
  const { secrets, settings, signal } = context
  const credentials = openTokens(context, {
    platform: 'Dropbox',
    renewal: 'authorize the connector again, or save a refresh token of Dropbox in it',
    url: authorization.server.tokenUrl,
    grant: { type: 'refresh_token' },
    client: { id: String(secrets.clientId ?? ''), secret: String(secrets.clientSecret ?? '') },
  })
  const platform = openPlatform(context, { name: 'Dropbox', baseUrl: '', credentials, errorOf })
  const expects = (takes?: RegExp) => (answer: Answer) =>
    takes !== undefined && answer.status === 409 && takes.test(summaryOf(answer))
  const account = () => platform.askObject({ ...accountCall, repeatable: true })
  let rooted: Promise<Readonly<Record<string, string>>> | undefined
  /** The space of a team is another root than the folder of its member. */
  const root = (): Promise<Readonly<Record<string, string>>> => {
    if (settings.teamSpace !== true) return Promise.resolve({})
    rooted ??= account().then(({ json }) => {
      const id = textIn(objectIn(json.root_info).root_namespace_id) ?? ''
      return /^[\w:]{1,100}$/.test(id) ? { 'dropbox-api-path-root': JSON.stringify({ '.tag': 'root', root: id }) } : {}
    })
    return rooted
  }
  return {
    async ask(endpoint, args, { repeatable = false, takes } = {}) {
      if (args === null) return account()
      const path = `${api}/2/${endpoint}`
      const headers = await root()
      return platform.askObject({ path, method: 'POST', body: args, headers, repeatable, expects: expects(takes) })
    },
    async send(endpoint, args, bytes, { repeatable = false, takes } = {}) {
      const headers = { ...(await root()), ...argumentsIn(args), 'content-type': 'application/octet-stream' }
      const answer = await platform.ask({
        path: `${content}/2/${endpoint}`,
        method: 'POST',
        headers,
        body: bytes,
        repeatable,
        expects: expects(takes),
        timeoutMs: sendTimeoutMs,
      })
      if (answer.json === undefined) {
        throw new ConnectorError('malformed_response', 'Dropbox did not answer with the expected JSON.')
      }
      // An endpoint without a result answers with the word null.
      return { ...answer, json: objectIn(answer.json) }
    },
    async download(path, fromByte) {
      const more = { ...(await root()), ...argumentsIn({ path }), range: `bytes=${fromByte}-` }
      const attempt = async (signedIn: Readonly<Record<string, string>>) =>
        context.egress.request(`${content}/2/files/download`, {
          method: 'POST',
          headers: { ...more, ...signedIn },
          signal,
          streams: true,
        })
      const signedIn = await credentials.headers()
      let response = await attempt(signedIn)
      if (response.status === 401) {
        await response.body?.cancel().catch(() => {})
        response = await attempt(await credentials.headers(signedIn))
      }
      if (response.ok) return response
      const text = await errorTextOf(response)
      const answer = { status: response.status, headers: response.headers, json: parseJson(text), text, bytesSent: 0 }
      throw errorOf(answer) ?? connectorErrorOfStatus('Dropbox', answer)
    },
  }
}

/** The account that the token belongs to, and its spaces. Without arguments, Dropbox wants the word null. */
const accountCall = { path: `${api}/2/users/get_current_account`, method: 'POST', body: 'null' } as const

/** Whether anything answers where Dropbox has its API. */
export async function connectToDropbox(context: ConnectorContext): Promise<string> {
  const response = await context.egress.request(`${api}/`, { method: 'HEAD', signal: context.signal })
  await response.body?.cancel().catch(() => {})
  return `${new URL(api).host} answers.`
}

/** Arguments as a header, in which JSON has no character outside of ASCII. */
const argumentsIn = (args: object): { 'dropbox-api-arg': string } => ({
  'dropbox-api-arg': JSON.stringify(args).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ),
})

/** Whether work failed with this code. */
export const failedWith = (error: unknown, ...codes: readonly ConnectorErrorCode[]): boolean =>
  codes.some((code) => asConnectorError(error)?.code === code)
