import { didYouMean } from '@penstock/wire/rules'
import type { ApiDefinition, ApiStream, Partitions } from './definition.ts'
import { partitionDepthMax } from './definition.ts'
import { readChanges } from './read-changes.ts'
import { checkTemplates } from './read-names.ts'
import { Part } from './read-part.ts'
import {
  headerName,
  isOwnHeader,
  readAnswer,
  readCursor,
  readPaging,
  readPartitions,
  readRule,
} from './read-stream-parts.ts'
import { partsOf } from './template.ts'

const streamKeys = [
  ...['server', 'path', 'method', 'query', 'headers', 'body', 'form', 'answer', 'records', 'recordsOptional'],
  ...['changes', 'columns', 'pages', 'partitions', 'cursor', 'errors'],
]

/** Characters of the defaults, multiplied by the number of streams: each stream reads them again. */
const repeatedMax = 400_000

/** Reads a definition from the value of a document. Throws a `WrongPart`. */
export function readDefinition(value: unknown): ApiDefinition {
  const root = new Part(value, [], ['defaults', 'streams'])
  const given = root.part('streams') ?? root.wrong('The definition needs streams.')
  const names = Object.keys(given.object)
  if (names.length === 0 || names.length > 100) given.wrong('streams must have 1 to 100 streams.')
  const defaults = root.part('defaults', streamKeys)
  const repeated = JSON.stringify(defaults?.object ?? {}).length * names.length
  if (repeated > repeatedMax) {
    const most = Math.floor(repeatedMax / names.length).toLocaleString('en')
    root.wrong(`defaults must have at most ${most} characters for ${names.length} streams.`, 'defaults')
  }
  const streams: Record<string, ApiStream> = Object.create(null)
  for (const name of names) {
    if (!/^[\p{L}\p{N}_ .-]{1,100}$/u.test(name)) {
      given.wrong('The name of a stream has 1 to 100 letters, digits, spaces and any of _ . -', name)
    }
    const part = streamOf(given, name, defaults)
    if (part) streams[name] = readStream(part)
    else given.wrong(`${name} must be an object.`, name)
  }
  for (const name of Object.keys(streams)) checkParents(given, streams, name)
  return { streams }
}

/** A stream with the defaults of the definition for keys that it does not have; `null` is none. */
function streamOf(given: Part, name: string, defaults: Part | undefined): Part | undefined {
  const part = given.part(name, streamKeys)
  if (!part || !defaults) return part
  const missing = Object.keys(defaults.object).filter((key) => !Object.hasOwn(part.object, key))
  const more = Object.fromEntries(missing.map((key) => [key, defaults.object[key]]))
  return new Part({ ...part.object, ...more }, part.path)
}

/** Notes streams of partitions that do not exist, and that need each other or too many others. */
function checkParents(given: Part, streams: Readonly<Record<string, ApiStream>>, name: string): void {
  const wrong = (message: string) => given.wrong(message, name, 'partitions', 'stream')
  for (const parent of parentsOf(streams[name]?.partitions)) {
    if (!streams[parent]) wrong(`There is no stream ${parent}.${didYouMean(parent, Object.keys(streams))}`)
  }
  let level = [name]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > partitionDepthMax) {
      wrong(`The stream needs more than ${partitionDepthMax} others for its partitions, or itself.`)
      return
    }
    level = [...new Set(level.flatMap((one) => parentsOf(streams[one]?.partitions)))]
  }
}

/** The streams whose records are partitions. */
const parentsOf = (partitions: readonly Partitions[] | undefined): string[] =>
  (partitions ?? []).flatMap((one) => ('of' in one ? one.of.map(({ stream }) => stream) : []))

function readStream(part: Part): ApiStream {
  const body = part.has('body') ? part.object.body : undefined
  const form = part.has('form') ? textsOf(part, 'form') : undefined
  const sends = body !== undefined || form !== undefined
  const method = part.choice('method', ['GET', 'POST'] as const) ?? (sends ? 'POST' : 'GET')
  if (sends && method === 'GET') part.wrong('A body needs the method POST.', 'method')
  if (body !== undefined && form !== undefined) part.wrong('A stream has either body or form.', 'form')
  const paging = part.part('pages')
  const slices = part.part('cursor')
  const partitions = readPartitions(part)
  const known = { cursor: slices !== undefined, partitions, pages: paging !== undefined }
  const columns = part.list('columns', 1_000)
  if (columns && new Set(columns).size !== columns.length) part.wrong('columns has a name twice.', 'columns')
  columns?.forEach((one, index) => {
    if (typeof one !== 'string' || one === '' || one.length > 200) part.wrong('A column is a path.', 'columns', index)
  })
  const headers = textsOf(part, 'headers')
  for (const name of Object.keys(headers)) {
    if (!headerName.test(name)) part.wrong('The name of a header has letters, digits, - and _.', 'headers', name)
    else if (isOwnHeader(name)) part.wrong(`The header ${name} is set by the connector.`, 'headers', name)
  }
  const query = textsOf(part, 'query')
  const path = pathOf(part)
  for (const [key, value] of Object.entries({ path, query, headers, body, form })) {
    checkTemplates(part, [key], value, known)
  }
  const pages = paging && readPaging(part, method, known)
  const server = part.text('server', /^[\w-]{1,50}$/, 'the name of one of the other servers of the connector')
  return {
    ...(server === undefined ? {} : { server }),
    path,
    method,
    query,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(form && { form }),
    answer: readAnswer(part),
    records: part.keys('records'),
    recordsOptional: part.flag('recordsOptional') ?? false,
    changes: readChanges(part, known),
    ...(columns && { columns: columns as string[] }),
    ...(pages && { pages }),
    ...(partitions && { partitions }),
    ...(slices && { cursor: readCursor(part) }),
    errors: (part.list('errors', 50) ?? []).map((rule, index) => readRule(part, rule, index)),
  }
}

function pathOf(part: Part): string {
  const path = part.needed('path', /^\/[^\p{Cc}]*$/u, 'a path that begins with / and has no query')
  const texts = (partsOf(path) ?? []).map((one) => ('text' in one ? one.text : 'x')).join('')
  if (/[?#\\]/.test(texts)) part.wrong('path must be a path that begins with / and has no query.', 'path')
  if (/\s/.test(texts)) part.wrong('path must have no spaces; write %20.', 'path')
  if (/(^|\/)\.\.?(\/|$)/.test(texts)) part.wrong('path must not have . or .. as a segment.', 'path')
  return path
}

function textsOf(part: Part, key: string): Record<string, string> {
  const given = part.part(key)
  const entries = Object.entries(given?.object ?? {}).flatMap(([name, value]): [string, string][] => {
    if (['string', 'number', 'boolean'].includes(typeof value)) return [[name, String(value)]]
    given?.wrong(`${name} must be a text.`, name)
    return []
  })
  return Object.fromEntries(entries)
}
