import { isObject, type JsonObject, objectIn, textIn } from '../../platform-api/json.ts'
import type { ImportedSlices } from './slices.ts'
import { type Notes, note, noteGap, templateOf, textsOf } from './texts.ts'

/** The address of a stream, as a template, and the parameters in it as they are in the manifest. */
export function addressOf(stream: JsonObject, notes: Notes): { readonly address: string; readonly search: string } {
  const { url_base: base, path, url } = objectIn(objectIn(stream.retriever).requester)
  const where = 'retriever.requester.url'
  const parts = [url ?? base ?? '', path ?? ''].map((one) => divided(String(one)))
  const [whole = '', rest = ''] = parts.map(({ before }) => templateOf(before, notes, where, 'address'))
  const address = (rest === '' ? whole : `${whole}/${rest}`).replace(/([^:/])\/{2,}/g, '$1/')
  return { address, search: parts.flatMap(({ after }) => (after === '' ? [] : [after])).join('&') }
}

/** The parts before and behind the question mark of an address that is outside of templates. */
function divided(address: string): { readonly before: string; readonly after: string } {
  const hidden = address.replace(/\{[{%][\s\S]*?[}%]\}/g, (found) => '_'.repeat(found.length))
  const at = hidden.indexOf('?')
  return at === -1 ? { before: address, after: '' } : { before: address.slice(0, at), after: address.slice(at + 1) }
}

/** The origin of an address, and the part before the first template; `undefined` if it is not known. */
export function baseOf(address: string): string | undefined {
  const fixed = address.split('{{')[0] ?? ''
  const isWhole = fixed === address || /^https?:\/\/[^/]+\//.test(fixed)
  return isWhole && URL.canParse(fixed) && /^https?:/.test(fixed)
    ? new URL(fixed).href.replace(/[?#].*$/, '')
    : undefined
}

/** The parts of a request. */
export type ImportedRequest = {
  readonly method?: 'POST'
  readonly query?: Record<string, string>
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly form?: Record<string, string>
}

type Requests = Pick<ImportedSlices, 'query' | 'headers' | 'form' | 'body'>

/** Imports the requester of a stream, with what its partitions, cursor and pages put into requests. */
export function importRequest(requester: JsonObject, search: string, own: Requests, notes: Notes): ImportedRequest {
  const where = 'retriever.requester'
  if (requester.type !== undefined && requester.type !== 'HttpRequester')
    note(notes, where, `${requester.type} cannot be carried.`)
  for (const key of ['query_properties', 'fetch_properties_from_endpoint']) {
    if (requester[key] !== undefined)
      note(notes, `${where}.${key}`, 'Properties that are asked for in parts cannot be carried.')
  }
  const method = String(requester.http_method ?? 'GET').toUpperCase()
  if (method !== 'GET' && method !== 'POST') note(notes, `${where}.http_method`, `${method} cannot be carried.`)
  const query = {
    ...textsOf(queryIn(search), notes, `${where}.url`, 'query'),
    ...textsOf(requester.request_parameters, notes, `${where}.request_parameters`, 'query'),
    ...own.query,
  }
  const headers = { ...textsOf(requester.request_headers, notes, `${where}.request_headers`, 'header'), ...own.headers }
  for (const [header, value] of Object.entries(headers)) {
    if (!/^(accept-encoding|content-type|host)$/i.test(header)) continue
    const isSame =
      method === 'GET'
        ? !/^host$/i.test(header)
        : /^accept-encoding$/i.test(header) || /^application\/(json|x-www-form-urlencoded)\b/i.test(value)
    if (!isSame) noteGap(notes, `${where}.request_headers.${header}`, 'The connector sets this header.')
    delete headers[header]
  }
  const { body, form } = bodyOf(requester, notes)
  const hasKeys = (value: object) => Object.keys(value).length > 0
  const forms = { ...form, ...own.form }
  const isForm = form !== undefined || hasKeys(own.form)
  delete forms['']
  const whole = merged(body, own.body)
  const isEmpty = isForm ? !hasKeys(forms) : whole === undefined || (isObject(whole) && !hasKeys(whole))
  if (method === 'GET' && !isEmpty) noteGap(notes, where, 'A request with GET is sent without a body.')
  return {
    ...(method === 'POST' ? { method: 'POST' as const } : {}),
    ...(hasKeys(query) && { query }),
    ...(hasKeys(headers) && { headers }),
    ...(method === 'POST' && isForm ? { form: forms } : {}),
    ...(method === 'POST' && !isForm && whole !== undefined ? { body: whole } : {}),
  }
}

/** The parameters of an address, whose templates stay. */
function queryIn(search: string): Record<string, string> {
  const entries = search.split('&').flatMap((one): [string, string][] => {
    const at = one.indexOf('=')
    return one === ''
      ? []
      : [[decoded(at === -1 ? one : one.slice(0, at)), at === -1 ? '' : decoded(one.slice(at + 1))]]
  })
  return Object.fromEntries(entries)
}

function decoded(text: string): string {
  try {
    return text.includes('{{') ? text : decodeURIComponent(text)
  } catch {
    return text
  }
}

function merged(body: unknown, own: object): unknown {
  if (Object.keys(own).length === 0) return body
  if (!isObject(body)) return own
  const entries = Object.entries(own).map(([key, value]) => [
    key,
    isObject(value) && isObject(body[key]) ? merged(body[key], value) : value,
  ])
  return { ...body, ...Object.fromEntries(entries) }
}

function bodyOf(
  requester: JsonObject,
  notes: Notes,
): { readonly body?: unknown; readonly form?: Record<string, string> } {
  const where = 'retriever.requester'
  const given = objectIn(requester.request_body)
  const type = textIn(given.type)
  const form = requester.request_body_data ?? (type === 'RequestBodyUrlEncodedForm' ? given.value : undefined)
  if (form !== undefined && form !== null) {
    const value = typeof form === 'string' ? queryIn(form) : form
    return { form: textsOf(value, notes, `${where}.request_body_data`) }
  }
  const value =
    requester.request_body_json ?? (type === undefined ? (requester.request_body ?? undefined) : given.value)
  if (value === undefined) return {}
  return { body: bodyValue(value, notes, `${where}.request_body_json`) }
}

function bodyValue(value: unknown, notes: Notes, path: string): unknown {
  if (typeof value === 'string') {
    if (/^\s*[[{](?!\{|%)/.test(value) && path.endsWith('json')) {
      try {
        return bodyValue(JSON.parse(value), notes, `${path}.`)
      } catch {
        // A text that is JSON only after its templates are filled.
        return note(notes, path, 'A body that is made as a text cannot be carried.')
      }
    }
    return templateOf(value, notes, path)
  }
  if (Array.isArray(value)) return value.map((one) => bodyValue(one, notes, `${path}.`))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, bodyValue(one, notes, `${path}.`)]))
}
