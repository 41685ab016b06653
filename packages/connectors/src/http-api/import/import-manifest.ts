import { parseDocument, stringify } from 'yaml'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../../platform-api/json.ts'
import { parseDefinition } from '../parse-definition.ts'
import { importAuthentication } from './authentication.ts'
import { importPaging } from './paging.ts'
import { ManifestError, resolveManifest } from './resolve.ts'
import { importSlices } from './slices.ts'
import { type Notes, templateOf, textsOf } from './texts.ts'

/** A manifest of the low-code CDK of Airbyte as values of the connector. */
export type ImportedManifest = {
  /** Values for the configuration of the connector, without secrets. */
  readonly values: Readonly<Record<string, string>>
  /** Secrets to enter, by field of the connector. */
  readonly secrets: readonly string[]
  /** Streams that were carried, and those of the manifest. */
  readonly streams: { readonly carried: number; readonly all: number }
  /** Parts that were not carried: the path in the manifest, and why. A stream with such a part is left out. */
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

/**
 * Imports a manifest.
 * @param text YAML
 * @param given values of the manifest's configuration that are no secrets, which its templates name
 * Never throws; a text that is no manifest has a problem.
 */
export function importManifest(text: string, given: Readonly<Record<string, string>> = {}): ImportedManifest {
  const problems: { path: string; message: string }[] = []
  const none = { values: {}, secrets: [], streams: { carried: 0, all: 0 }, problems }
  let manifest: JsonObject
  try {
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' })
    const value: unknown = document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 100 })
    if (!isObject(value)) throw new ManifestError(document.errors[0]?.message ?? 'It is not an object.')
    manifest = resolveManifest(value)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { ...none, problems: [{ path: '', message: `The manifest cannot be read. ${message}` }] }
  }
  const streams = listIn(manifest.streams)
  if (manifest.dynamic_streams !== undefined) {
    problems.push({ path: 'dynamic_streams', message: 'Streams that are made while reading cannot be carried.' })
  }
  const bases = streams.map((stream) => baseOf(objectIn(stream), given))
  const base = commonBase(bases.filter((one) => one !== undefined))
  const authentications = new Map<string, ReturnType<typeof importAuthentication>>()
  const carried: Record<string, unknown> = Object.create(null)
  for (const [index, value] of streams.entries()) {
    const stream = objectIn(value)
    const name = (textIn(stream.name) ?? `stream ${index + 1}`).replace(/[^\p{L}\p{N}_ .-]/gu, '_').slice(0, 100)
    const notes: Notes = {
      given,
      problems: [],
      path: `streams[${index}] ${name}`,
      partition: undefined,
      cursor: undefined,
    }
    const requester = objectIn(objectIn(stream.retriever).requester)
    const authentication = importAuthentication(objectIn(requester.authenticator), notes)
    const key = JSON.stringify(authentication)
    if (notes.problems.length === 0) authentications.set(key, authentication)
    if (authentications.size > 1 && [...authentications.keys()][0] !== key) {
      note(
        notes,
        'retriever.requester.authenticator',
        'It signs in differently from the first stream; use another configuration.',
      )
    }
    const imported = importStream(stream, notes, base, bases[index])
    const parsed = parseDefinition(stringify({ streams: { [name]: imported } }))
    const alone = 'wrong' in parsed && !/There is no stream/.test(parsed.wrong) ? parsed.wrong : undefined
    if (notes.problems.length === 0 && alone) note(notes, '', `It becomes a definition that ${alone}`)
    problems.push(...notes.problems)
    if (notes.problems.length === 0) carried[name] = imported
  }
  withoutOrphans(carried, problems)
  const [authentication] = authentications.values()
  const count = Object.keys(carried).length
  const definition = count === 0 ? '' : stringify({ streams: { ...carried } }, { lineWidth: 120 })
  if (definition.length > 10_000) {
    problems.push({
      path: '',
      message: `The definition has ${definition.length} characters, and 10,000 fit; remove streams from it.`,
    })
  }
  return {
    values: {
      ...(base === undefined ? {} : { url: base }),
      ...authentication?.values,
      ...(count > 0 && { definition }),
    },
    secrets: authentication?.secrets ?? [],
    streams: { carried: count, all: streams.length },
    problems,
  }
}

const note = (notes: Notes, path: string, message: string) =>
  notes.problems.push({ path: [notes.path, path].filter((one) => one !== '').join('.'), message })

function addressOf(stream: JsonObject, notes: Notes): string {
  const { url_base: base, path, url } = objectIn(objectIn(stream.retriever).requester)
  const whole = url === undefined ? `${textIn(base) ?? ''}/${textIn(path) ?? ''}` : textIn(url)
  return templateOf(whole ?? '', notes, 'retriever.requester.url').replace(/([^:/])\/{2,}/g, '$1/')
}

/** The base URL of a stream: what comes before the first template, without the last segment. */
function baseOf(stream: JsonObject, given: Readonly<Record<string, string>>): string | undefined {
  const retriever = objectIn(stream.retriever)
  const requester = objectIn(retriever.requester)
  const notes: Notes = { given, problems: [], path: '', partition: undefined, cursor: undefined }
  const base = templateOf(textIn(requester.url_base) ?? '', notes, '')
  const whole = base === '' ? (addressOf(stream, notes).split('{{')[0] ?? '') : base
  return URL.canParse(whole) && !whole.includes('{{') ? new URL(whole).href.replace(/[?#].*$/, '') : undefined
}

/** The longest address that all of them begin with, in whole segments. */
function commonBase(bases: readonly string[]): string | undefined {
  const [first] = bases
  if (first === undefined) return undefined
  const { origin, pathname } = new URL(first)
  const segments = pathname.split('/').filter((one) => one !== '')
  while (segments.length > 0) {
    const base = [origin, ...segments].join('/')
    if (bases.every((one) => one === base || one.startsWith(`${base}/`))) return base
    segments.pop()
  }
  return origin
}

function importStream(stream: JsonObject, notes: Notes, base: string | undefined, own: string | undefined): unknown {
  const wrong = (path: string, message: string) => note(notes, path, message)
  const retriever = objectIn(stream.retriever)
  if (stream.type !== undefined && stream.type !== 'DeclarativeStream')
    wrong('type', `${stream.type} cannot be carried.`)
  if (retriever.type !== undefined && retriever.type !== 'SimpleRetriever') {
    wrong('retriever', `${retriever.type} cannot be carried.`)
  }
  const requester = objectIn(retriever.requester)
  if (requester.type !== undefined && requester.type !== 'HttpRequester') {
    wrong('retriever.requester', `${requester.type} cannot be carried.`)
  }
  const slices = importSlices(stream, notes)
  const address = addressOf(stream, notes)
  const [beforeQuery = '', search = ''] = address.split('?', 2)
  if (base === undefined || own === undefined || !beforeQuery.startsWith(base)) {
    wrong(
      'retriever.requester.url_base',
      'The address is on another server than that of the first stream, or is not known.',
    )
  }
  const path = beforeQuery.slice(base?.length ?? 0).replace(/(?<=.)\/$/, (end) => (address.endsWith('/') ? end : ''))
  const method = textIn(requester.http_method)?.toUpperCase() ?? 'GET'
  if (method !== 'GET' && method !== 'POST') wrong('retriever.requester.http_method', `${method} cannot be carried.`)
  const texts = (key: string) => textsOf(requester[key], notes, `retriever.requester.${key}`)
  if (requester.request_body_data !== undefined) {
    wrong('retriever.requester.request_body_data', 'A body that is a form or a text cannot be carried.')
  }
  const bodyGiven =
    requester.request_body_json ?? (isObject(requester.request_body) ? requester.request_body.value : undefined)
  const body = bodyGiven === undefined ? undefined : bodyOf(bodyGiven, notes)
  const selector = objectIn(retriever.record_selector)
  const extractor = objectIn(selector.extractor)
  if (extractor.type !== undefined && extractor.type !== 'DpathExtractor') {
    wrong('retriever.record_selector.extractor', `${extractor.type} cannot be carried.`)
  }
  if (selector.record_filter) wrong('retriever.record_selector.record_filter', 'A filter of records cannot be carried.')
  const decoder = textIn(objectIn(retriever.decoder).type)
  if (decoder !== undefined && decoder !== 'JsonDecoder') wrong('retriever.decoder', `${decoder} cannot be carried.`)
  const records = listIn(extractor.field_path).map((one) =>
    templateOf(String(one), notes, 'retriever.record_selector.extractor'),
  )
  const pages = importPaging(objectIn(retriever.paginator), notes)
  const query = { ...Object.fromEntries(new URLSearchParams(search)), ...texts('request_parameters'), ...slices.query }
  const headers = texts('request_headers')
  for (const header of Object.keys(headers))
    if (/^(accept-encoding|content-type)$/i.test(header)) delete headers[header]
  const columns = columnsOf(stream, notes)
  const errors = rulesOf(objectIn(requester.error_handler), notes)
  const has = (value: object) => Object.keys(value).length > 0
  return {
    path: path.startsWith('/') ? path : `/${path}`,
    ...(method === 'POST' ? { method } : {}),
    ...(has(query) && { query }),
    ...(has(headers) && { headers }),
    ...(method === 'POST' &&
      (body !== undefined || has(slices.body)) && { body: { ...(body as object), ...slices.body } }),
    ...(records.length > 0 && { records }),
    ...(columns && columns.length > 0 && { columns }),
    ...(pages && { pages }),
    ...(slices.partitions && { partitions: slices.partitions }),
    ...(slices.cursor && { cursor: slices.cursor }),
    ...(errors.length > 0 && { errors }),
  }
}

function bodyOf(value: unknown, notes: Notes): unknown {
  if (typeof value === 'string') return templateOf(value, notes, 'retriever.requester.request_body_json')
  if (Array.isArray(value)) return value.map((one) => bodyOf(one, notes))
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, bodyOf(one, notes)]))
    : value
}

/** The fields of the schema, without removed ones. Nothing else may be changed in records. */
function columnsOf(stream: JsonObject, notes: Notes): string[] | undefined {
  const removed = new Set<string>()
  for (const value of listIn(stream.transformations)) {
    const { type, field_pointers: pointers } = objectIn(value)
    if (type !== 'RemoveFields') note(notes, 'transformations', `${type} cannot be carried.`)
    for (const pointer of listIn(pointers)) removed.add(listIn(pointer).join('.'))
  }
  const loader = objectIn(stream.schema_loader)
  const properties = objectIn(objectIn(loader.schema).properties)
  return Object.keys(properties).filter((name) => name !== '' && !removed.has(name))
}

const actions = { IGNORE: 'ignore', SUCCESS: undefined, FAIL: 'fail', RETRY: 'retry', RATE_LIMITED: 'wait' } as const

/** Rules of errors. Times to wait are those of the connector. */
function rulesOf(handler: JsonObject, notes: Notes): unknown[] {
  const { type, error_handlers: handlers, response_filters: filters } = handler
  if (typeof type === 'string' && type.startsWith('Custom'))
    note(notes, 'retriever.requester.error_handler', `${type} cannot be carried.`)
  const below = listIn(handlers).flatMap((one) => rulesOf(objectIn(one), notes))
  const own = listIn(filters).flatMap((one) => {
    const filter = objectIn(one)
    const action = textIn(filter.action)?.toUpperCase() ?? 'FAIL'
    const then = actions[action as keyof typeof actions]
    const path = 'retriever.requester.error_handler.response_filters'
    if (!Object.hasOwn(actions, action)) note(notes, path, `The action ${action} cannot be carried.`)
    if (filter.predicate) note(notes, path, 'A condition that is calculated cannot be carried.')
    if (then === undefined) return []
    const status = [filter.http_codes ?? []].flat().map(Number)
    const contains = textIn(filter.error_message_contains)
    if (status.length === 0 && contains === undefined) return []
    return [{ ...(status.length > 0 && { status }), ...(contains && { contains }), action: then }]
  })
  return [...own, ...below]
}

/** Removes streams whose partitions come from a stream that was not carried. */
function withoutOrphans(carried: Record<string, unknown>, problems: { path: string; message: string }[]): void {
  for (let before = -1; before !== Object.keys(carried).length; ) {
    before = Object.keys(carried).length
    for (const [name, value] of Object.entries(carried)) {
      const parent = textIn(objectIn(objectIn(value).partitions).stream)
      if (parent === undefined || (carried[parent] && !objectIn(carried[parent]).partitions)) continue
      delete carried[name]
      const why = carried[parent] ? 'has partitions itself' : 'was not carried'
      problems.push({ path: name, message: `Its partitions come from the stream ${parent}, which ${why}.` })
    }
  }
}
