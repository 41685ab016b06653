import { type JsonObject, listIn, objectIn, textIn } from '../../platform-api/json.ts'
import { original } from './asked-keys.ts'
import { constantConfig, type Notes, note, noteGap, resultOf, secretOf, templateOf, textsOf } from './texts.ts'

/** Values and secrets of the connector for an authenticator. */
export type ImportedAuthentication = {
  readonly values: Record<string, string>
  readonly secrets: readonly string[]
}

const none: ImportedAuthentication = { values: { authentication: 'none' }, secrets: [] }

/** Values and secrets of the connector for an authenticator of a manifest. */
export function importAuthentication(authenticator: JsonObject, notes: Notes): ImportedAuthentication {
  const type = textIn(authenticator.type) ?? 'NoAuth'
  const where = 'retriever.requester.authenticator'
  const wrong = (message: string) => note(notes, where, message) ?? none
  switch (type) {
    case 'NoAuth':
      return none
    case 'BearerAuthenticator':
      noteMade({ api_token: authenticator.api_token }, notes, where)
      return { values: { authentication: 'bearer token' }, secrets: ['apiToken'] }
    case 'BasicHttpAuthenticator':
      return basicOf(authenticator, notes, where)
    case 'ApiKeyAuthenticator':
      return keyOf(authenticator, notes, where)
    case 'OAuthAuthenticator':
      return oauthOf(authenticator, notes, where)
    case 'SessionTokenAuthenticator':
      return sessionOf(authenticator, notes, where)
    case 'SelectiveAuthenticator': {
      const path = [authenticator.authenticator_selection_path].flat().map(String)
      const choices = objectIn(authenticator.authenticators)
      const names = Object.entries(choices).map(([name]) => name)
      const found = notes.config.at(path)
      const choice = 'value' in found ? String(found.value) : ''
      const chosen = Object.hasOwn(choices, choice) ? objectIn(choices[choice]) : undefined
      if (chosen) return importAuthentication(chosen, notes)
      return wrong(`Choose the authentication: --value ${path.join('.')}=… with one of ${names.join(', ')}.`)
    }
    default:
      return wrong(`${type} cannot be carried.`)
  }
}

/** Notes secrets that consist of more than one value of the configuration, because a secret is sent exactly as it is entered. */
function noteMade(secrets: JsonObject, notes: Notes, where: string): void {
  for (const [key, template] of Object.entries(secrets)) {
    const rest = String(template ?? '').replace(/\{\{([\s\S]*?)\}\}/g, (_, inside) =>
      /[|~+]/.test(inside) ? inside : '',
    )
    if (rest.trim() !== '')
      noteGap(notes, `${where}.${key}`, 'It is more than a value of the configuration; enter all of it.')
  }
}

function basicOf({ username, password }: JsonObject, notes: Notes, where: string): ImportedAuthentication {
  const isKey = secretOf(username, notes) !== undefined
  const isSecret = password !== undefined && /config/.test(String(password))
  noteMade({ ...(isKey && { username }), ...(isSecret && { password }) }, notes, where)
  const fixed = isSecret || password === undefined ? '' : templateOf(password, notes, where)
  const own = fixed === '' ? {} : { password: fixed }
  if (isKey)
    return {
      values: { authentication: 'key as user name', ...own },
      secrets: ['apiToken', ...(isSecret ? ['password'] : [])],
    }
  const before = notes.problems.length
  const name = templateOf(username ?? '', notes, where)
  const isMissing = notes.problems.slice(before).some(({ message }) => message.includes('--value'))
  // A user name is a field of the connector, so that it is entered there.
  if (isMissing) notes.problems.length = before
  const values = {
    authentication: 'user name and password',
    ...(isMissing || name === '' ? {} : { username: name }),
    ...own,
  }
  return {
    values,
    secrets: [...(values.username === undefined ? ['username'] : []), ...(fixed === '' ? ['password'] : [])],
  }
}

function keyOf(authenticator: JsonObject, notes: Notes, where: string): ImportedAuthentication {
  const { inject_into: into, header, api_token: token } = authenticator
  const { inject_into: place = 'header', field_name: given = header } = objectIn(into)
  const name = templateOf(given ?? '', notes, where)
  const text = textIn(token) ?? ''
  const words = text.split(/\{\{[\s\S]*?\}\}/)
  const prefix = (words[0] ?? '').trim()
  if (words.length > 2 || (words[1] ?? '').trim() !== '') {
    return note(notes, where, 'A key with more than a word before it cannot be carried.') ?? none
  }
  noteMade({ api_token: text.slice(words[0]?.length) }, notes, where)
  if (/^bearer$/i.test(prefix) && /^authorization$/i.test(name)) {
    return { values: { authentication: 'bearer token' }, secrets: ['apiToken'] }
  }
  if (place !== 'header' && place !== 'request_parameter') {
    return note(notes, where, `A key in ${place} cannot be carried.`) ?? none
  }
  const keyIn = place === 'header' ? 'header' : 'query'
  const values = { authentication: 'API key', keyIn, keyName: name, ...(prefix !== '' && { keyPrefix: prefix }) }
  return { values, secrets: ['apiToken'] }
}

function oauthOf(authenticator: JsonObject, notes: Notes, where: string): ImportedAuthentication {
  if (authenticator.use_profile_assertion === true || authenticator.profile_assertion) {
    return note(notes, where, 'A signed assertion cannot be carried.') ?? none
  }
  const grant = textIn(resultOf(authenticator.grant_type, notes, where)) ?? 'refresh_token'
  if (grant !== 'refresh_token' && grant !== 'client_credentials') {
    return note(notes, where, `The grant ${grant} cannot be carried.`) ?? none
  }
  const names = {
    access_token_name: 'access_token',
    client_id_name: 'client_id',
    client_secret_name: 'client_secret',
    grant_type_name: 'grant_type',
    refresh_token_name: 'refresh_token',
  }
  const { client_id, client_secret, refresh_token } = authenticator
  noteMade({ client_id, client_secret, refresh_token }, notes, where)
  const { refresh_token_name: rotated } = objectIn(original(authenticator.refresh_token_updater))
  for (const [key, usual] of [...Object.entries(names), ['', 'refresh_token']] as const) {
    const given = textIn(key === '' ? rotated : authenticator[key])
    if (given !== undefined && given !== usual) note(notes, where, `Another name for ${usual} cannot be carried.`)
  }
  const headers = Object.keys(objectIn(authenticator.refresh_request_headers)).map((one) => one.toLowerCase())
  if (headers.some((one) => one !== 'authorization' && one !== 'content-type')) {
    note(notes, where, 'Headers of the request for a token cannot be carried.')
  }
  const tokenUrl = constantConfig(authenticator.token_refresh_endpoint ?? '', notes, where)
  if (tokenUrl === '') note(notes, where, 'It has no address for tokens.')
  const given = objectIn(authenticator.refresh_request_body)
  const known = new Set(['grant_type', 'client_id', 'client_secret', 'refresh_token', 'scope'])
  const more = textsOf(Object.fromEntries(Object.entries(given).filter(([key]) => !known.has(key))), notes, where)
  const scopes = listIn(authenticator.scopes)
    .map((one) => templateOf(one, notes, where))
    .join(' ')
  const scope = scopes || (given.scope === undefined ? '' : templateOf(given.scope, notes, where))
  return {
    values: {
      authentication: grant.replace('_', ' '),
      tokenUrl,
      ...(headers.includes('authorization') && { clientIn: 'header' }),
      ...(scope !== '' && { scope }),
      ...(Object.keys(more).length > 0 && { urlParameters: new URLSearchParams(more).toString() }),
    },
    secrets: ['clientId', 'clientSecret', ...(grant === 'refresh_token' ? ['refreshToken'] : [])],
  }
}

/** A login whose answer has a token: with a user name and a password, or an ID and a secret. */
function sessionOf(authenticator: JsonObject, notes: Notes, where: string): ImportedAuthentication {
  const login = objectIn(authenticator.login_requester)
  const wrong = (message: string) => note(notes, `${where}.login_requester`, message) ?? none
  if (String(login.http_method ?? 'GET').toUpperCase() !== 'POST')
    return wrong('A login without POST cannot be carried.')
  const given = objectIn(login.request_body)
  const form = login.request_body_data ?? (given.type === 'RequestBodyUrlEncodedForm' ? given.value : undefined)
  const body = objectIn(form ?? login.request_body_json ?? given.value)
  const basic = objectIn(login.authenticator)
  const isBasic = basic.type === 'BasicHttpAuthenticator'
  if (isBasic) {
    const { username, password } = basic
    noteMade({ username, password }, notes, `${where}.login_requester.authenticator`)
  }
  if (!isBasic && basic.type !== undefined && basic.type !== 'NoAuth') return wrong(`${basic.type} cannot be carried.`)
  if (Object.keys(objectIn(login.request_parameters)).length > 0)
    return wrong('A login with parameters cannot be carried.')
  const headers = Object.keys(objectIn(original(login.request_headers)))
  if (headers.some((one) => !/^(accept|content-type|user-agent)$/i.test(one)))
    return wrong('A login with headers cannot be carried.')
  const [isSecret, others] = [(value: unknown) => secretOf(value, notes) !== undefined, Object.entries(body)]
  const secrets = others.filter(([, value]) => isSecret(value))
  if (secrets.length > (isBasic ? 0 : 2)) return wrong('A login with so many secrets cannot be carried.')
  const passwordName = secrets.at(-1)?.[0]
  const open = others.filter(
    ([key, value]) => key !== passwordName && (isSecret(value) || /\{\{\s*config/.test(String(value))),
  )
  const userName = (open.find(([, value]) => isSecret(value)) ??
    open.find(([key]) => /user|mail|id|login/i.test(key)) ??
    open[0])?.[0]
  if (!isBasic && (passwordName === undefined || userName === undefined))
    return wrong('Such a login cannot be carried.')
  const rest = others.filter(([key]) => isBasic || (key !== passwordName && key !== userName))
  const more = textsOf(Object.fromEntries(rest), notes, where)
  const into = objectIn(objectIn(authenticator.request_authentication).inject_into)
  const isBearer = objectIn(authenticator.request_authentication).type === 'Bearer'
  const token = objectIn(authenticator.request_authentication).api_token
  const prefix = isBearer ? 'Bearer' : (/^([^{}]+)\{\{/.exec(textIn(token) ?? '')?.[1]?.trim() ?? '')
  const place = into.inject_into ?? 'header'
  if (place !== 'header' && place !== 'request_parameter') return wrong(`A token in ${place} cannot be carried.`)
  const url = `${constantConfig(login.url_base ?? login.url ?? '', notes, where)}/${templateOf(login.path ?? '', notes, where)}`
  return {
    values: {
      authentication: 'session token',
      loginUrl: url.replace(/([^:/])\/{2,}/g, '$1/').replace(/\/+$/, ''),
      loginIn: isBasic ? 'header' : form ? 'form' : 'body',
      ...(!isBasic && { loginNames: `${userName},${passwordName}` }),
      loginPath: listIn(authenticator.session_token_path).map(String).join('.'),
      keyIn: place === 'header' ? 'header' : 'query',
      keyName: isBearer ? 'Authorization' : (textIn(into.field_name) ?? 'Authorization'),
      ...(prefix !== '' && { keyPrefix: prefix }),
      ...(Object.keys(more).length > 0 && { urlParameters: new URLSearchParams(more).toString() }),
    },
    secrets: ['username', 'password'],
  }
}
