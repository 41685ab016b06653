import { parseDocument, stringify } from 'yaml'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../../platform-api/json.ts'
import { definitionLengthMax } from '../definition/definition.ts'
import { parseDefinition } from '../definition/parse-definition.ts'
import { type InheritedKeys, original, recordAsked } from './asked-keys.ts'
import { type ImportedAuthentication, importAuthentication } from './authentication.ts'
import { configOf } from './config.ts'
import { importPaging } from './paging.ts'
import { importRecords } from './records.ts'
import { addressOf, baseOf, importRequest } from './requests.ts'
import { ManifestError, resolveManifest } from './resolve.ts'
import { importRules } from './rules.ts'
import { importSlices, type NameOfParent } from './slices.ts'
import { type Finding, type Notes, note, noteGap, notesOf, type SecretUse } from './texts.ts'

/** A manifest of the low-code CDK of Airbyte as values of the connector. */
export type ImportedManifest = {
  /** Values for the configuration of the connector, without secrets. */
  readonly values: Readonly<Record<string, string>>
  /** Secrets to enter, by field of the connector. */
  readonly secrets: readonly string[]
  /** Streams that were carried, those of them that have a gap, and those of the manifest. */
  readonly streams: { readonly carried: number; readonly inPart: number; readonly all: number }
  /** Parts that were not carried. A stream with such a part is left out. */
  readonly problems: readonly Finding[]
  /** Keys that were not read, and other parts that are missing in what was carried. A stream with such a part is carried without it. */
  readonly gaps: readonly Finding[]
}

/**
 * Imports a manifest.
 * @param text YAML
 * @param given values of the manifest's configuration that are no secrets, which its templates name
 * Never throws; a text that is no manifest has a problem.
 */
export function importManifest(text: string, given: Readonly<Record<string, string>> = {}): ImportedManifest {
  const problems: Finding[] = []
  const none = { values: {}, secrets: [], streams: { carried: 0, inPart: 0, all: 0 }, problems, gaps: [] }
  let resolved: ReturnType<typeof resolveManifest>
  try {
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent', uniqueKeys: false })
    const value: unknown = document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 100 })
    if (!isObject(value)) throw new ManifestError(document.errors[0]?.message ?? 'It is not an object.')
    resolved = resolveManifest(value)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { ...none, problems: [{ path: '', message: `The manifest cannot be read. ${message}` }] }
  }
  const { component: manifest, unasked } = recordAsked(resolved.manifest, resolved.inherited)
  if (manifest.dynamic_streams !== undefined) {
    problems.push({ path: 'dynamic_streams', message: 'Streams that are made while reading cannot be carried.' })
  }
  const importer = new Importer(manifest, given, resolved.inherited)
  const streams = streamsOf(manifest)
  for (const [index, stream] of streams.entries()) importer.add(delegated(stream), `streams[${index}]`)
  const gaps = unasked().map((path) => ({ path, message: notCarried }))
  return importer.result(streams.length, problems, gaps)
}

const notCarried = 'The key is not carried.'

const streamsOf = (manifest: JsonObject): JsonObject[] =>
  listIn(manifest.streams).map((stream) => objectIn(original(stream)))

/** Of a stream that is read in two ways, the one that reads all records, which is right with and without a state. */
function delegated(stream: JsonObject): JsonObject {
  const { type, name, full_refresh_stream: full } = stream
  if (type !== 'StateDelegatingStream' || !isObject(full)) return stream
  return name === undefined || name === full.name ? full : { ...full, name }
}

const plainName = (name: string): string => name.replace(/[^\p{L}\p{N}_ .-]/gu, '_').slice(0, 90)

type ImportedStream = {
  readonly name: string
  readonly stream: JsonObject
  readonly notes: Notes
  readonly address: string
  readonly authentication: ImportedAuthentication
  readonly definition: JsonObject
  readonly isListed: boolean
  readonly parents: Set<string>
}

/** The import of the streams of one manifest, with those from which partitions are taken. */
class Importer {
  readonly #config
  readonly #streams: ImportedStream[] = []
  readonly #names = new Map<string, string>()
  /** The streams of the manifest, as JSON, with their names. */
  readonly #listed: ReadonlyMap<string, string>

  readonly #inherited: InheritedKeys

  constructor(manifest: JsonObject, given: Readonly<Record<string, string>>, inherited: InheritedKeys) {
    this.#inherited = inherited
    this.#config = configOf(objectIn(manifest.spec), given)
    this.#listed = new Map(
      streamsOf(manifest)
        .map(delegated)
        .map((stream) => [JSON.stringify(stream), plainName(textIn(stream.name) ?? '')]),
    )
  }

  /** Adds a stream, once. @returns its name in the definition */
  add(stream: JsonObject, at: string, depth = 0): string {
    const known = JSON.stringify(stream)
    const before = this.#names.get(known)
    if (before !== undefined) return before
    const name = this.#freeName(
      plainName(textIn(stream.name) ?? `stream ${this.#streams.length + 1}`),
      this.#listed.has(known),
    )
    this.#names.set(known, name)
    const notes = notesOf(this.#config, `${at} ${name}`)
    const parents = new Set<string>()
    const nameOfParent: NameOfParent = (parent) => {
      if (Object.keys(parent).length === 0 || depth > 5) return undefined
      const found = this.add(delegated(objectIn(original(parent))), at, depth + 1)
      parents.add(found)
      return found
    }
    const { component, unasked } = recordAsked(stream, this.#inherited)
    const { authenticator } = objectIn(objectIn(component.retriever).requester)
    const slot = this.#streams.length
    const isListed = this.#listed.has(known)
    const imported = importStream(component, notes, nameOfParent)
    const authentication = withSecrets(importAuthentication(objectIn(authenticator), notes), notes)
    // Reading stops at a part that cannot be carried.
    for (const path of notes.problems.length > 0 ? [] : unasked()) {
      if (path.endsWith('class_name')) note(notes, path, 'A program cannot be carried.')
      else noteGap(notes, path, notCarried)
    }
    const entry = { name, stream, notes, ...imported, authentication, isListed, parents }
    this.#streams.splice(slot, 0, entry)
    return name
  }

  #freeName(name: string, isListed: boolean): string {
    const taken = new Set([...this.#names.values(), ...(isListed ? [] : this.#listed.values())])
    if (!taken.has(name)) return name
    for (let count = 2; ; count++) if (!taken.has(`${name}-${count}`)) return `${name}-${count}`
  }

  result(all: number, problems: Finding[], gaps: Finding[]): ImportedManifest {
    const servers = serversOf(this.#streams.map(({ address }) => address))
    const [first] = this.#streams.filter(({ notes }) => notes.problems.length === 0)
    const authentication = commonOf(this.#streams) ?? first?.authentication
    const carried: Record<string, unknown> = Object.create(null)
    for (const { name, notes, address, authentication: own, definition } of this.#streams) {
      const whole = { ...servers.placeOf(address, notes), ...definition }
      if (authentication && notes.problems.length === 0 && !isSame(own, authentication)) {
        if (own.values.authentication !== 'none') {
          note(
            notes,
            'retriever.requester.authenticator',
            'It signs in differently from the other streams; use another configuration.',
          )
        }
      }
      const parsed = notes.problems.length > 0 ? undefined : parseDefinition(stringify({ streams: { [name]: whole } }))
      if (parsed && 'wrong' in parsed && !/There is no stream/.test(parsed.wrong)) {
        note(notes, '', `It becomes a definition that ${parsed.wrong}`)
      }
      problems.push(...notes.problems)
      if (notes.problems.length === 0) carried[name] = whole
    }
    withoutOrphans(carried, this.#streams, problems)
    // Other streams are there for their partitions alone.
    const count = this.#streams.filter(({ name }) => carried[name]).length - this.#helpers(carried)
    const definition =
      count === 0 ? '' : stringify(withDefaults(carried), { lineWidth: 0, aliasDuplicateObjects: false })
    if (definition.length > definitionLengthMax) {
      const most = definitionLengthMax.toLocaleString('en')
      const message = `The definition has ${definition.length} characters, and ${most} fit; remove streams from it.`
      problems.push({ path: '', message })
    }
    const inPart = this.#streams.filter(({ name, notes }) => carried[name] && notes.gaps.length > 0)
    return {
      values: { ...servers.values, ...authentication?.values, ...(count > 0 && { definition }) },
      secrets: authentication?.secrets ?? [],
      streams: { carried: count, inPart: inPart.filter(({ isListed }) => isListed).length, all },
      problems,
      gaps: [...gaps, ...inPart.flatMap(({ notes }) => notes.gaps)],
    }
  }

  #helpers(carried: Readonly<Record<string, unknown>>): number {
    return this.#streams.filter(({ name, isListed }) => carried[name] && !isListed).length
  }
}

const isSame = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The authentication of most streams. */
function commonOf(streams: readonly ImportedStream[]): ImportedAuthentication | undefined {
  const counts = new Map<string, number>()
  for (const { authentication, notes } of streams) {
    if (notes.problems.length > 0 || authentication.values.authentication === 'none') continue
    const key = JSON.stringify(authentication)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1])
  return most && (JSON.parse(most[0]) as ImportedAuthentication)
}

/** The authentication with the secrets that requests have elsewhere: the key, if there is none, and a second one. */
function withSecrets(given: ImportedAuthentication, notes: Notes): ImportedAuthentication {
  const uses = [...new Map(notes.secrets.map((use) => [JSON.stringify(use), use])).values()]
  // A second key has no word before it.
  uses.sort((a, b) => b.prefix.length - a.prefix.length)
  let found = given
  for (const use of uses) {
    // The authenticator has the last word about its header.
    const isHeader = use.in === 'header' && /^authorization$/i.test(use.name)
    if (found.values.authentication === 'none') found = keyOf(use)
    else if (isHeader && (found.values.keyName === undefined || /^authorization$/i.test(found.values.keyName))) continue
    else if (!found.secrets.includes('secondKey') && use.prefix === '') {
      const second = { secondKeyIn: use.in, secondKeyName: use.name }
      found = { values: { ...found.values, ...second }, secrets: [...found.secrets, 'secondKey'] }
    } else note(notes, 'retriever.requester', 'More than two keys cannot be carried.')
  }
  return found
}

function keyOf({ in: place, name, prefix }: SecretUse): ImportedAuthentication {
  if (place === 'header' && /^authorization$/i.test(name) && /^bearer\s*$/i.test(prefix)) {
    return { values: { authentication: 'bearer token' }, secrets: ['apiToken'] }
  }
  const word = prefix.trim()
  const values = { authentication: 'API key', keyIn: place, keyName: name, ...(word !== '' && { keyPrefix: word }) }
  return { values, secrets: ['apiToken'] }
}

function importStream(
  stream: JsonObject,
  notes: Notes,
  nameOfParent: NameOfParent,
): Pick<ImportedStream, 'address' | 'definition'> {
  const retriever = objectIn(stream.retriever)
  if (stream.type !== undefined && stream.type !== 'DeclarativeStream')
    note(notes, 'type', `${stream.type} cannot be carried.`)
  if (retriever.type !== undefined && retriever.type !== 'SimpleRetriever') {
    note(notes, 'retriever.type', `${retriever.type} cannot be carried.`)
  }
  if (stream.file_uploader) note(notes, 'file_uploader', 'Files cannot be carried.')
  const slices = importSlices(stream, notes, nameOfParent)
  const { address, search } = addressOf(stream, notes)
  const requester = objectIn(retriever.requester)
  const isPageNamed = JSON.stringify({ ...objectIn(original(requester)), error_handler: undefined }).includes(
    'next_page_token',
  )
  const paging = importPaging(objectIn(retriever.paginator), notes, slices, isPageNamed)
  const request = importRequest(requester, search, slices, notes)
  const records = importRecords(stream, notes, slices.keep)
  const errors = importRules(objectIn(requester.error_handler), notes)
  if (errors.length > 50) noteGap(notes, 'retriever.requester.error_handler', 'Only the first 50 rules are carried.')
  // An address of a next page has all parameters already.
  if (retriever.ignore_stream_slicer_parameters_on_paginated_requests === true && !/^(link|url)$/.test(`${paging?.by}`))
    noteGap(notes, 'retriever.ignore_stream_slicer_parameters_on_paginated_requests', notCarried)
  const stop = [slices.stop, paging?.stop].filter((one) => one !== undefined).join(' || ')
  return {
    address,
    definition: {
      ...request,
      ...answerOf(objectIn(retriever.decoder), notes),
      ...records,
      ...(paging && { pages: { ...paging, ...(stop !== '' && { stop }) } }),
      ...(slices.partitions && { partitions: slices.partitions }),
      ...(slices.cursor && { cursor: cursorFor(slices.cursor, JSON.stringify([address, request, records, paging])) }),
      ...(errors.length > 0 && { errors: errors.slice(0, 50) }),
    },
  }
}

/** A cursor without steps, if no request names its times: each step would read the same. */
function cursorFor(cursor: JsonObject, request: string): JsonObject {
  if (request.includes('cursor.')) return cursor
  const { stepDays: _days, stepHours: _hours, ...rest } = cursor
  return rest
}

function answerOf(decoder: JsonObject, notes: Notes): { readonly answer?: { readonly form: string } } {
  const type = textIn(decoder.type)
  // A compressed answer is recognised.
  if (type === 'GzipDecoder') return answerOf(objectIn(decoder.decoder), notes)
  if (type === undefined || type === 'JsonDecoder') return {}
  const forms: Readonly<Record<string, string>> = { JsonlDecoder: 'lines', CsvDecoder: 'csv', XmlDecoder: 'xml' }
  const form = forms[type]
  if (form === undefined) note(notes, 'retriever.decoder', `${type} cannot be carried.`)
  const delimiter = textIn(decoder.delimiter)
  return {
    answer: {
      form: form ?? 'json',
      ...(delimiter !== undefined && { delimiter: delimiter === '\\t' ? '\t' : delimiter }),
    },
  }
}

type Servers = {
  readonly values: Readonly<Record<string, string>>
  placeOf(address: string, notes: Notes): { readonly path: string; readonly server?: string }
}

/** The base URL of all streams, and other servers by name. */
function serversOf(addresses: readonly string[]): Servers {
  const bases = addresses.map(baseOf).filter((one) => one !== undefined)
  const origins = [...new Set(bases.map((base) => new URL(base).origin))]
  const url = commonBase(bases.filter((base) => new URL(base).origin === origins[0]))
  const others = new Map(
    origins.slice(1).map((origin) => [origin, new URL(origin).host.replace(/\W/g, '-').slice(0, 50)]),
  )
  const servers = [...others].map(([origin, name]) => `${name}=${origin}`).join(' ')
  return {
    values: { ...(url === undefined ? {} : { url }), ...(servers === '' ? {} : { servers }) },
    placeOf(address, notes) {
      const base = baseOf(address)
      if (base === undefined || url === undefined) {
        note(notes, 'retriever.requester.url_base', 'The address is not known before the transfer.')
        return { path: '/' }
      }
      const server = others.get(new URL(base).origin)
      const from = server === undefined ? url.length : new URL(base).origin.length
      // Templates stay, and the address ends at the first sign that begins its parameters.
      const parts = address.slice(from).split(/(\{\{[\s\S]*?\}\})/)
      const end = parts.findIndex((part, index) => index % 2 === 0 && /[?#]/.test(part))
      const kept = end === -1 ? parts : [...parts.slice(0, end), (parts[end] ?? '').replace(/[?#].*$/s, '')]
      const path = kept.map((part, index) => (index % 2 === 0 ? part.replaceAll(' ', '%20') : part)).join('')
      return { path: path.startsWith('/') ? path : `/${path}`, ...(server === undefined ? {} : { server }) }
    },
  }
}

/** A definition in which values that most streams have are said once. */
function withDefaults(streams: Readonly<Record<string, unknown>>): object {
  const all = Object.entries(streams).map(([name, stream]) => [name, objectIn(stream)] as const)
  const defaults: Record<string, unknown> = {}
  for (const key of ['query', 'headers', 'errors', 'pages', 'cursor', 'recordsOptional', 'records']) {
    const counts = new Map<string, number>()
    for (const [, stream] of all) {
      const text = JSON.stringify(stream[key])
      if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1)
    }
    const [most] = [...counts].sort((a, b) => b[1] - a[1])
    if (most && most[1] > 2 && most[1] > all.length / 2) defaults[key] = JSON.parse(most[0])
  }
  if (Object.keys(defaults).length === 0) return { streams: { ...streams } }
  const rest = all.map(([name, stream]) => {
    const own = Object.entries(stream).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(defaults[key]))
    const none = Object.keys(defaults).filter((key) => stream[key] === undefined)
    return [name, { ...Object.fromEntries(own), ...Object.fromEntries(none.map((key) => [key, null])) }]
  })
  return { defaults, streams: Object.fromEntries(rest) }
}

/** The longest address below which all of them are, in whole segments: each keeps a path, which has no slash at its end by chance. */
function commonBase(bases: readonly string[]): string | undefined {
  const [first] = bases
  if (first === undefined) return undefined
  const { origin, pathname } = new URL(first)
  const segments = pathname.split('/').filter((one) => one !== '')
  while (segments.length > 0) {
    const base = [origin, ...segments].join('/')
    if (bases.every((one) => one.startsWith(`${base}/`))) return base
    segments.pop()
  }
  return origin
}

/** Removes streams whose partitions come from a stream that was not carried. */
function withoutOrphans(
  carried: Record<string, unknown>,
  streams: readonly ImportedStream[],
  problems: Finding[],
): void {
  for (let before = -1; before !== Object.keys(carried).length; ) {
    before = Object.keys(carried).length
    for (const { name, parents } of streams) {
      const missing = [...parents].find((parent) => !carried[parent])
      if (!carried[name] || missing === undefined) continue
      delete carried[name]
      problems.push({ path: name, message: `Its partitions come from the stream ${missing}, which was not carried.` })
    }
  }
}
