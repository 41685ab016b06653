import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { element, elements, readXml, textAt, type XmlNode } from '../object-stores/xml.ts'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform } from '../platform-api/client.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

const name = 'Acoustic'

/** The hosts of pods that Acoustic has numbered (developer.goacoustic.com, “XML API overview”). */
const numbered: Readonly<Record<string, string>> = {
  1: 'us-1',
  2: 'us-2',
  3: 'us-3',
  4: 'us-4',
  5: 'us-5',
  6: 'eu-1',
  7: 'ap-2',
  8: 'ca-1',
  9: 'us-6',
  a: 'ap-1',
}

/** The origin of the API on the pod of the account. Throws `invalid_setting` if the pod is not valid. */
export function originOf({ secrets }: Pick<ConnectorContext, 'secrets'>): string {
  const pod = String(secrets.pod ?? '')
    .trim()
    .toLowerCase()
  const host = Object.hasOwn(numbered, pod) ? numbered[pod] : pod
  if (host !== undefined && /^[a-z]{2}-\d{1,2}$/.test(host)) return `https://api-campaign-${host}.goacoustic.com`
  throw new ConnectorError('invalid_setting', 'The pod must be a region and a number, such as us-1 or eu-1.')
}

/** Access tokens of the application. They last for four hours, and Acoustic issues a new one after three. */
export function tokensOf(context: ConnectorContext): AccessTokens {
  const { clientToken, clientSecret } = context.secrets
  return openTokens(context, {
    platform: name,
    url: `${originOf(context)}/oauth/token`,
    grant: { type: 'refresh_token' },
    client: { id: String(clientToken ?? ''), secret: String(clientSecret ?? '') },
    renewal: 'get a new refresh token from the administrator of the Acoustic account and save it in the connector',
  })
}

/** The XML API of Acoustic Campaign. Both throw `ConnectorError`s. */
export type Campaign = {
  /**
   * Asks, and resolves with the `RESULT` of the answer, and how many bytes were sent. Every request here can be repeated.
   * @param content elements of the body, escaped
   * @param refused the error of a refusal that neither the sign-in nor the load explains
   */
  ask(content: string, refused: Refused): Promise<{ result: XmlNode; bytes: number }>
  /** The columns of a table, and its key columns, which are empty if Acoustic does not report them. */
  table(id: string): Promise<Table>
  /** The relational tables that the user sees. */
  tables(): Promise<readonly { readonly id: string; readonly name: string }[]>
}

export type Refused = (code: string) => ConnectorError

export type Table = {
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly keys: readonly string[]
}

/** Opens the API of a pod. Asks for nothing before a request. */
export function openCampaign(context: ConnectorContext): Campaign {
  const client = openPlatform(context, {
    name,
    baseUrl: originOf(context),
    headers: { accept: 'text/xml', 'content-type': 'text/xml;charset=UTF-8' },
    credentials: tokensOf(context),
  })
  const ask: Campaign['ask'] = async (content, refused) => {
    const { text, bytesSent } = await client.ask({
      method: 'POST',
      path: '/XMLAPI',
      body: `<Envelope><Body>${content}</Body></Envelope>`,
      repeatable: true,
      errorOf: (answer) => refusalOf(answer, refused),
    })
    return { result: resultOf(text), bytes: bytesSent }
  }
  return {
    ask,
    async table(id) {
      const { result } = await ask(`<GetListMetaData><LIST_ID>${id}</LIST_ID></GetListMetaData>`, noTable)
      const columnsIn = (list: string) =>
        elements(element(result, list), 'COLUMN').map((one) => ({ name: said(one, 'NAME'), type: said(one, 'TYPE') }))
      return { columns: columnsIn('COLUMNS'), keys: columnsIn('KEY_COLUMNS').map((column) => column.name) }
    },
    async tables() {
      const found = new Map<string, string>()
      // Private ones, and shared ones.
      for (const visibility of ['0', '1']) {
        const asked = `<GetLists><VISIBILITY>${visibility}</VISIBILITY><LIST_TYPE>15</LIST_TYPE><INCLUDE_ALL_LISTS>true</INCLUDE_ALL_LISTS></GetLists>`
        const { result } = await ask(asked, noList)
        for (const one of elements(result, 'LIST')) {
          if (said(one, 'IS_FOLDER') !== 'true' && isId(said(one, 'ID'))) found.set(said(one, 'ID'), said(one, 'NAME'))
        }
      }
      return [...found].map(([id, name]) => ({ id, name }))
    },
  }
}

/** Whether a text is an ID of Acoustic: a number. */
export const isId = (text: string): boolean => /^\d{1,18}$/.test(text)

const said = (node: XmlNode, element: string): string => textAt(node, element).trim()

const resultOf = (text: string): XmlNode => element(readXml(text, name), 'Envelope', 'Body', 'RESULT') ?? ''

/** The error of an answer without success. An answer that names rows is not an error, whatever else it says. */
function refusalOf({ status, text }: Answer, refused: Refused): ConnectorError | undefined {
  if (status < 200 || status > 299) return undefined
  const body = element(readXml(text, name), 'Envelope', 'Body')
  const isSuccess = textAt(body, 'RESULT', 'SUCCESS').trim().toLowerCase() === 'true'
  if (isSuccess || element(body, 'RESULT', 'FAILURES') !== undefined) return undefined
  const refusal = element(body, 'Fault')
  if (refusal === undefined) return new ConnectorError('malformed_response', `${name} did not answer with a result.`)
  const id = textAt(refusal, 'detail', 'error', 'errorid').trim()
  const code = isId(id) ? `error ${id}` : 'without a number'
  if (id === '145') return new ConnectorError('expired_credentials', `${name} does not accept the session (${code}).`)
  if (/concurrent/i.test(textAt(refusal, 'FaultString'))) {
    return new ConnectorError('rate_limited', `${name} takes 10 requests of an organization at a time (${code}).`)
  }
  return refused(code)
}

const noTable: Refused = (code) =>
  new ConnectorError(
    'object_not_found',
    `${name} does not show the table (${code}). Check its ID, and that the user of the refresh token sees it.`,
  )

const noList: Refused = (code) =>
  new ConnectorError(
    'permission_denied',
    `${name} does not list the relational tables (${code}). Check what the user of the refresh token may do.`,
  )
