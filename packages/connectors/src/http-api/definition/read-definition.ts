import { didYouMean, personIdentifiers } from '@penstock/wire/rules'
import type { ApiDefinition, ApiOperation, ApiStream, Pace, Partitions } from './definition.ts'
import { partitionDepthMax } from './definition.ts'
import { readChanges } from './read-changes.ts'
import { readErasure } from './read-erasure.ts'
import { readOperation } from './read-operation.ts'
import { Part } from './read-part.ts'
import { readRequest } from './read-request.ts'
import { readAnswer, readCursor, readPaging, readPartitions, readRule } from './read-stream-parts.ts'

const streamKeys = [
  ...['server', 'path', 'method', 'query', 'headers', 'body', 'form', 'answer', 'records', 'recordsOptional'],
  ...['changes', 'columns', 'pages', 'partitions', 'cursor', 'errors'],
]

/** Characters of the defaults, multiplied by the number of streams: each stream reads them again. */
const repeatedMax = 400_000

function readPace(root: Part): { readonly pace?: Pace } {
  const part = root.part('pace', ['requests', 'seconds', 'remaining'])
  if (!part) return {}
  const remaining = part.text('remaining', /^[A-Za-z0-9-]{1,100}$/, 'the name of a header')
  return {
    pace: {
      requests: part.whole('requests', 1, 1_000_000) ?? part.wrong('pace needs requests: a number.'),
      seconds: part.whole('seconds', 1, 86_400) ?? 1,
      ...(remaining === undefined ? {} : { remaining }),
    },
  }
}

/** Reads a definition from the value of a document. Throws a `WrongPart`. */
export function readDefinition(value: unknown): ApiDefinition {
  const root = new Part(value, [], ['defaults', 'streams', 'operations', 'check', 'pace', 'erasure'])
  const operations = readOperations(root)
  const checked = root.part('check', ['server', 'path', 'query', 'headers'])
  const erasure = root.part('erasure', personIdentifiers)
  const check = {
    ...(checked && { check: readRequest(checked, new Map()) }),
    ...readPace(root),
    ...(erasure && { erasure: readErasure(erasure) }),
  }
  const given = root.part('streams')
  if (!given) {
    if (root.has('defaults')) root.wrong('defaults are those of streams, which the definition has none of.', 'defaults')
    return root.has('operations') || erasure
      ? { streams: {}, operations, ...check }
      : root.wrong('The definition needs streams, operations or erasure.')
  }
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
    checkName(given, name, 'stream')
    const part = streamOf(given, name, defaults)
    if (part) streams[name] = readStream(part)
    else given.wrong(`${name} must be an object.`, name)
  }
  for (const name of Object.keys(streams)) checkParents(given, streams, name)
  return { streams, operations, ...check }
}

function readOperations(root: Part): ApiDefinition['operations'] {
  const given = root.part('operations')
  const names = Object.keys(given?.object ?? {})
  if (given && (names.length === 0 || names.length > 100)) given.wrong('operations must have 1 to 100 operations.')
  const operations: Record<string, ApiOperation> = Object.create(null)
  for (const name of names) {
    if (!given) continue
    checkName(given, name, 'operation')
    operations[name] = readOperation(given, name)
  }
  return operations
}

function checkName(given: Part, name: string, what: 'stream' | 'operation'): void {
  if (/^[\p{L}\p{N}_ .-]{1,100}$/u.test(name)) return
  given.wrong(
    `The name of ${what === 'stream' ? 'a stream' : 'an operation'} has 1 to 100 letters, digits, spaces and any of _ . -`,
    name,
  )
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
  const sends = part.has('body') || part.has('form')
  const method = part.choice('method', ['GET', 'POST'] as const) ?? (sends ? 'POST' : 'GET')
  if (sends && method === 'GET') part.wrong('A body needs the method POST.', 'method')
  const paging = part.part('pages')
  const slices = part.part('cursor')
  const partitions = readPartitions(part)
  const known = { cursor: slices !== undefined, partitions, pages: paging !== undefined }
  const columns = part.list('columns', 1_000)
  if (columns && new Set(columns).size !== columns.length) part.wrong('columns has a name twice.', 'columns')
  columns?.forEach((one, index) => {
    if (typeof one !== 'string' || one === '' || one.length > 200) part.wrong('A column is a path.', 'columns', index)
  })
  const request = readRequest(part, known)
  const pages = paging && readPaging(part, method, known)
  return {
    ...request,
    method,
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
