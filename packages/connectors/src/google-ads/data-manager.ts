import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { type Answer, call } from '../platform-api/call.ts'
import { isObject, type JsonObject, objectIn } from '../platform-api/json.ts'
import { type Access, openAccess } from './access.ts'
import { connectorErrorOfGoogle, reasonsOf } from './google-errors.ts'

export const dataManagerOrigin = 'https://datamanager.googleapis.com'
const scope = 'https://www.googleapis.com/auth/datamanager'

/** An account of a Google product: whose lists they are, or who signs in on its behalf. */
export type Account = { readonly accountType: string; readonly accountId: string }

export const accountName = ({ accountType, accountId }: Account) => `accountTypes/${accountType}/accounts/${accountId}`

export type DataManagerAnswer = {
  readonly json: JsonObject
  readonly bytesSent: number
  readonly status: number
  /** What time it is at Google, by the answer's header, in milliseconds since 1970; absent where it does not say. */
  readonly now: number | undefined
}

/** Google's Data Manager API, signed in. Everything throws connector errors. */
export type DataManager = {
  readonly access: Access
  readonly operating: Account
  readonly login: Account | undefined
  /**
   * Asks. Refusals of Google are thrown as connector errors, but for those with one of the reasons in `expected` or with the status
   * 404 where it is expected: these are answered, so that the caller can continue another way.
   */
  ask(method: 'GET' | 'POST', path: string, options?: AskOptions): Promise<DataManagerAnswer>
}

export type AskOptions = {
  readonly body?: unknown
  /** Whether an answer that is no success is for the caller to deal with. */
  readonly expects?: (answer: Answer) => boolean
}

export function openDataManager(context: ConnectorContext): DataManager {
  const access = openAccess(context, scope)
  const { operating, login } = accountsOf(context)
  async function send(method: 'GET' | 'POST', path: string, body: unknown): Promise<Answer> {
    return call(context, {
      url: `${dataManagerOrigin}/v1/${path}`,
      method,
      headers: {
        authorization: `Bearer ${await access.token()}`,
        ...(login ? { 'login-account': accountName(login) } : {}),
      },
      body,
    })
  }
  return {
    access,
    operating,
    login,
    async ask(method, path, { body, expects = () => false } = {}) {
      let answer = await send(method, path, body)
      if (answer.status === 401) {
        // The token may have ended before its time; a new one is asked for once.
        access.forget()
        answer = await send(method, path, body)
      }
      const { status, json, bytesSent } = answer
      const well = status >= 200 && status < 300
      if (!well && !expects(answer)) throw connectorErrorOfGoogle(answer)
      if (well && !isObject(json)) {
        throw new ConnectorError('malformed_response', 'Google answered with something other than its JSON.')
      }
      const now = Date.parse(answer.headers.get('date') ?? '')
      return { json: objectIn(json), bytesSent, status, now: Number.isNaN(now) ? undefined : now }
    },
  }
}

/** A list as requests name it. */
export const destinationOf = ({ operating, login }: DataManager, list: string): object => ({
  operatingAccount: operating,
  ...(login ? { loginAccount: login } : {}),
  productDestinationId: list,
})

/** Whether an answer gives one of these reasons. */
export const hasReason =
  (...reasons: readonly string[]) =>
  (answer: Answer): boolean =>
    reasonsOf(answer.json).some((reason) => reasons.includes(reason))

function accountsOf({ settings }: ConnectorContext): { operating: Account; login: Account | undefined } {
  const isDisplay = settings.accountType === 'Display & Video 360'
  const managerId = settings.managerAccountId
  return {
    operating: {
      accountType: isDisplay ? 'DISPLAY_VIDEO_ADVERTISER' : 'GOOGLE_ADS',
      accountId: settings.advertiserId === undefined ? '' : digitsOf(settings.advertiserId, 'Advertiser ID'),
    },
    login:
      managerId === undefined
        ? undefined
        : {
            accountType: isDisplay ? 'DISPLAY_VIDEO_PARTNER' : 'GOOGLE_ADS',
            accountId: digitsOf(managerId, 'Manager account ID'),
          },
  }
}

/** People copy customer IDs with their dashes. */
function digitsOf(value: unknown, label: string): string {
  const digits = String(value).replace(/[\s-]/g, '')
  if (/^\d+$/.test(digits)) return digits
  throw new ConnectorError('invalid_setting', `${label} must be a number of Google, such as 123-456-7890.`)
}
