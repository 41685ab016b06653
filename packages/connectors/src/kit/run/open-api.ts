import { type ConnectorContext, ConnectorError, type ConnectorErrorCode, type Values } from '@penstock/connector'
import type { Answer } from '../../platform-api/call.ts'
import { type Credentials, openPlatform, type PlatformClient } from '../../platform-api/client.ts'
import { isObject, textIn } from '../../platform-api/json.ts'
import { waitMsOf } from '../../platform-api/rate-limit.ts'
import type { Auth, ErrorFact, IdSetting, RestApi } from '../api.ts'

/** Opens an API by its facts, signed in. Throws `invalid_credentials` if a secret is missing. */
export async function openApi(context: ConnectorContext, api: RestApi, auth: Auth): Promise<PlatformClient> {
  return openPlatform(context, {
    name: api.name,
    baseUrl: api.baseUrl,
    ...(api.headers && { headers: api.headers }),
    credentials: await credentialsOf(context, api, auth),
    errorOf: (answer) => errorOf(api, answer),
  })
}

/** The credentials of requests, by the facts. */
export async function credentialsOf(context: ConnectorContext, { name }: RestApi, auth: Auth): Promise<Credentials> {
  if ('open' in auth) return auth.open(context)
  const secret = (key: string): string => {
    const value = textIn(context.secrets[key])
    if (value !== undefined) return value
    throw new ConnectorError(
      'invalid_credentials',
      `The credentials for ${name} are incomplete. Save all of them in the connector.`,
    )
  }
  const headers = (): Record<string, string> => {
    if ('bearer' in auth) return { authorization: `Bearer ${secret(auth.bearer)}` }
    if ('header' in auth) return { [auth.header]: secret(auth.secret) }
    const [user, password] = auth.basic.map(secret)
    return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
  }
  const signed = headers()
  const query = 'bearer' in auth && auth.query ? { query: auth.query(context.secrets) } : {}
  return { renews: false, headers: async () => signed, ...query }
}

/** The value at a path of keys, `error.code`. */
export function valueAt(value: unknown, path: string): unknown {
  let found: unknown = value
  for (const key of path.split('.')) found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
  return found
}

/** The values at a path of keys. In a list, also if it is the whole answer, each element is followed. */
const valuesAt = (value: unknown, path: string): readonly unknown[] =>
  path
    .split('.')
    .reduce<readonly unknown[]>((all, key) => all.flatMap((one) => [valueAt(one, key)].flat()), [value].flat())

/** The platform's own codes in an answer. Any other text could quote what was sent. */
function codesIn({ errors = {} }: RestApi, { json }: Answer): string[] {
  const codes = errors.codeAt === undefined ? [] : valuesAt(json, errors.codeAt).flatMap((code) => textIn(code) ?? [])
  return codes.filter((code) => /^[\w.:/-]{1,100}$/.test(code)).slice(0, 5)
}

/** The part of an answer that messages quote: its status and the platform's own codes. */
export function quoted(api: RestApi, answer: Answer): string {
  const codes = codesIn(api, answer)
  return codes.length === 0 ? `status ${answer.status}` : `status ${answer.status}, code ${codes.join(', ')}`
}

/**
 * The error that an answer means, according to the facts. `undefined` leaves the decision to the status, `null` makes it an
 * answer like any other.
 */
export function errorOf(api: RestApi, answer: Answer): ConnectorError | null | undefined {
  const { errors = {}, errorOf: own } = api
  if (own) return own(answer)
  const { status } = answer
  const [code] = codesIn(api, answer)
  const special = errors.special?.(answer)
  if (special instanceof ConnectorError || special === null) return special
  if (special !== undefined) return errorOfFact(api, answer, special)
  const byCode = code === undefined ? undefined : (known(code) ?? (status >= 400 ? undefined : errors.otherCodes))
  if (byCode === 'success') return null
  const fact =
    byCode ?? (status < 400 ? undefined : (errors.statuses?.[status] ?? errors.statuses?.[`${String(status)[0]}xx`]))
  return fact === undefined ? undefined : errorOfFact(api, answer, fact)

  function known(key: string): ErrorFact | 'success' | undefined {
    return errors.codes && Object.hasOwn(errors.codes, key) ? errors.codes[key] : undefined
  }
}

/** The error of an answer that has a meaning. */
function errorOfFact(api: RestApi, answer: Answer, fact: ErrorFact): ConnectorError {
  const [code, advice] = typeof fact === 'string' ? [fact] : fact
  const message = `${api.name} ${said[code] ?? 'refused the request'} (${quoted(api, answer)}).${advice ? ` ${advice}` : ''}`
  return new ConnectorError(code, message, isPaused(code) ? { afterMs: waitMsOf(answer) } : {})
}

/** The errors of answers to one request, by what they mean. */
export const meaningBy =
  (api: RestApi, means: (answer: Answer) => ErrorFact | undefined) =>
  (answer: Answer): ConnectorError | undefined => {
    const fact = means(answer)
    return fact === undefined ? undefined : errorOfFact(api, answer, fact)
  }

const isPaused = (code: ConnectorErrorCode): boolean => code === 'rate_limited' || code === 'platform_error'

const said: Partial<Record<ConnectorErrorCode, string>> = {
  rate_limited: 'limits the rate of requests',
  platform_error: 'has an internal error',
  platform_unavailable: 'is not available',
  conflict: 'is still processing an earlier change',
  invalid_credentials: 'does not accept the credentials',
  expired_credentials: 'no longer accepts the credentials',
  permission_denied: 'denies access',
  object_not_found: 'does not know an object in the settings',
  invalid_batch: 'does not accept the request',
  batch_too_large: 'reports that the batch is too large',
  version_retired: 'has retired this version of its API',
  malformed_response: 'did not report the result of the request',
}

/** Checks the settings that are IDs, before they become part of a path. Throws `invalid_setting`. */
export function assertIds(settings: Readonly<Record<string, object>>, values: Values): void {
  for (const [key, field] of Object.entries(settings)) {
    if (!('pattern' in field)) continue
    const { label, pattern, example, required, needed, what = 'an ID of the platform' } = field as IdSetting
    const value = String(values[key] ?? '').trim()
    if (value === '' && !required && !needed) continue
    if (pattern.test(value)) continue
    throw new ConnectorError('invalid_setting', `${label} must be ${what}, such as ${example}.`)
  }
}
