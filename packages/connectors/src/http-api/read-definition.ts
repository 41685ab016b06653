import { didYouMean } from '@penstock/wire/rules'
import { isObject, type JsonObject } from '../platform-api/json.ts'
import type { ApiDefinition, ApiStream, ErrorRule, Pages, Partitions, StreamCursor } from './definition.ts'
import { partitionsMax, templateNames } from './definition.ts'
import { fill, hasOpenBraces, namesIn } from './template.ts'

/** Keys and indexes that lead to a value. */
export type Path = readonly (string | number)[]

/** An error of a value, as a sentence. */
export type Problem = { readonly path: Path; readonly message: string }

/** The reading of one value, which notes what is wrong with it. */
class Part {
  readonly object: JsonObject
  readonly path: Path
  readonly problems: Problem[]

  constructor(value: unknown, path: Path, problems: Problem[], keys?: readonly string[]) {
    this.path = path
    this.problems = problems
    this.object = isObject(value) ? value : {}
    if (!isObject(value)) this.wrong(`${this.name} must be an object.`)
    for (const key of Object.keys(this.object)) {
      if (!keys || keys.includes(key)) continue
      this.wrong(`${key} is not known here.${didYouMean(key, keys) || ` Known are: ${keys.join(', ')}.`}`, key)
    }
  }

  get name(): string {
    return this.path.length === 0 ? 'The definition' : String(this.path.at(-1))
  }

  wrong(message: string, ...below: Path): undefined {
    this.problems.push({ path: [...this.path, ...below], message })
  }

  has(key: string): boolean {
    return Object.hasOwn(this.object, key) && this.object[key] !== null
  }

  part(key: string, keys?: readonly string[]): Part | undefined {
    return this.has(key) ? new Part(this.object[key], [...this.path, key], this.problems, keys) : undefined
  }

  text(key: string, form = /^\P{Cc}+$/u, what = 'a text'): string | undefined {
    const value = this.object[key]
    if (!this.has(key)) return undefined
    if (typeof value === 'string' && value.length <= 2_000 && form.test(value)) return value
    return this.wrong(`${key} must be ${what}.`, key)
  }

  needed(key: string, form?: RegExp, what?: string): string {
    if (!this.has(key)) this.wrong(`${this.name} needs ${key}.`)
    return this.text(key, form, what) ?? ''
  }

  whole(key: string, min: number, max: number): number | undefined {
    const value = this.object[key]
    if (!this.has(key)) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
    return this.wrong(`${key} must be a whole number from ${min} to ${max}.`, key)
  }

  choice<Option extends string>(key: string, options: readonly Option[]): Option | undefined {
    const value = this.object[key]
    if (!this.has(key)) return undefined
    const option = options.find((one) => one === value)
    if (option !== undefined) return option
    return this.wrong(`${key} must be one of: ${options.join(', ')}.${didYouMean(String(value), options)}`, key)
  }

  list(key: string, max: number): readonly unknown[] | undefined {
    const value = this.object[key]
    if (!this.has(key)) return undefined
    if (Array.isArray(value) && value.length > 0 && value.length <= max) return value
    return this.wrong(`${key} must be a list of 1 to ${max} values.`, key)
  }

  /** Keys that lead into JSON: a text with points, or a list of keys that have points themselves. */
  keys(key: string): string[] {
    const value = this.object[key]
    if (!this.has(key)) return []
    const keys = typeof value === 'string' ? value.split('.') : value
    const fits = Array.isArray(keys) && keys.every((one) => typeof one === 'string' && one !== '') && keys.length <= 20
    if (fits) return keys
    this.wrong(`${key} must be a path, such as data.items.`, key)
    return []
  }
}

const streamKeys = ['path', 'method', 'query', 'headers', 'body', 'records', 'columns', 'pages', 'partitions', 'cursor']
const pageKeys = ['by', 'parameter', 'in', 'first', 'size', 'sizeParameter', 'at', 'header']
const headerName = /^[A-Za-z0-9_-]+$/

/** Reads a definition from the value of a document. Notes every problem; the result counts only if there is none. */
export function readDefinition(value: unknown, problems: Problem[]): ApiDefinition | undefined {
  const root = new Part(value, [], problems, ['streams'])
  const given = root.part('streams')
  if (!given) {
    if (problems.length === 0) root.wrong('The definition needs streams.')
    return undefined
  }
  const names = Object.keys(given.object)
  if (names.length === 0 || names.length > 100) given.wrong('streams must have 1 to 100 streams.')
  const streams: Record<string, ApiStream> = Object.create(null)
  for (const name of names) {
    if (!/^[\p{L}\p{N}_ .-]{1,100}$/u.test(name)) {
      given.wrong('The name of a stream has 1 to 100 letters, digits, spaces and any of _ . -', name)
      continue
    }
    const part = given.part(name, [...streamKeys, 'errors'])
    if (part) streams[name] = readStream(part)
    else given.wrong(`${name} must be an object.`, name)
  }
  for (const [name, { partitions }] of Object.entries(streams)) {
    if (!partitions || !('stream' in partitions)) continue
    const wrong = (message: string) => given.wrong(message, name, 'partitions', 'stream')
    const parent = streams[partitions.stream]
    if (!parent) wrong(`There is no stream ${partitions.stream}.${didYouMean(partitions.stream, names)}`)
    else if (parent.partitions) wrong(`The stream ${partitions.stream} has partitions itself, so it cannot give them.`)
  }
  return { streams }
}

function readStream(part: Part): ApiStream {
  const body = part.has('body') ? part.object.body : undefined
  const method = part.choice('method', ['GET', 'POST'] as const) ?? (body === undefined ? 'GET' : 'POST')
  if (body !== undefined && method === 'GET') part.wrong('A body needs the method POST.', 'method')
  const pages = part.part('pages', pageKeys)
  const partitions = part.part('partitions', ['values', 'stream', 'field'])
  const cursor = part.part('cursor', ['format', 'stepDays', 'lookBackDays', 'start'])
  const columns = part.list('columns', 1_000)
  if (columns && new Set(columns).size !== columns.length) part.wrong('columns has a name twice.', 'columns')
  columns?.forEach((one, index) => {
    if (typeof one !== 'string' || one === '' || one.length > 200) part.wrong('A column is a path.', 'columns', index)
  })
  const known = templateNames.filter((name) => (name === 'partition' ? partitions : cursor))
  const headers = textsOf(part, 'headers')
  for (const name of Object.keys(headers)) {
    if (!headerName.test(name)) part.wrong('The name of a header has letters, digits, - and _.', 'headers', name)
    else if (/^(authorization|cookie|host|connection|content-length|transfer-encoding|accept-encoding)$/i.test(name)) {
      part.wrong(`The header ${name} is set by the connector.`, 'headers', name)
    }
  }
  const query = textsOf(part, 'query')
  const path = part.needed('path', /^\/[^?#\\\p{Cc}]*$/u, 'a path that begins with / and has no query')
  if (/\s/.test(fill(path, {}))) part.wrong('path must have no spaces; write %20.', 'path')
  if (/(^|\/)\.\.?(\/|$)/.test(path)) part.wrong('path must not have . or .. as a segment.', 'path')
  for (const [key, value] of Object.entries({ path, query, headers, body })) checkTemplates(part, [key], value, known)
  return {
    path,
    method,
    query,
    headers,
    ...(body === undefined ? {} : { body }),
    records: part.keys('records'),
    ...(columns && { columns: columns as string[] }),
    ...(pages && { pages: readPaging(pages, method) }),
    ...(partitions && { partitions: readPartitions(partitions) }),
    ...(cursor && { cursor: readCursor(cursor) }),
    errors: (part.list('errors', 50) ?? []).map((rule, index) => readRule(part, rule, index)),
  }
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

function checkTemplates(part: Part, at: Path, value: unknown, known: readonly string[]): void {
  if (isObject(value)) {
    for (const [key, one] of Object.entries(value)) checkTemplates(part, [...at, key], one, known)
  } else if (Array.isArray(value)) {
    value.forEach((one, index) => {
      checkTemplates(part, [...at, index], one, known)
    })
  } else if (typeof value === 'string') {
    if (hasOpenBraces(value)) part.wrong('Two braces begin or end a name, such as {{ cursor.start }}.', ...at)
    for (const name of namesIn(value)) {
      if (known.includes(name)) continue
      const needs = name === 'partition' ? 'partitions' : 'a cursor'
      const message = templateNames.some((one) => one === name)
        ? `{{ ${name} }} needs a stream with ${needs}.`
        : `{{ ${name} }} is not known.${didYouMean(name, templateNames) || ` Known are: ${templateNames.join(', ')}.`}`
      part.wrong(message, ...at)
    }
  }
}

function readPaging(part: Part, method: ApiStream['method']): Pages {
  if (!part.has('by')) part.wrong('pages needs by: page, offset, cursor, link or url.')
  const by = part.choice('by', ['page', 'offset', 'cursor', 'link', 'url'] as const) ?? 'page'
  const size = part.whole('size', 1, 100_000)
  const sizeParameter = part.text('sizeParameter')
  const place = part.choice('in', ['query', 'body'] as const) ?? 'query'
  const header = part.text('header', headerName, 'the name of a header')
  const at = part.keys('at')
  const hasParameter = by === 'page' || by === 'offset' || by === 'cursor'
  if (place === 'body' && method === 'GET') part.wrong('Parameters in the body need the method POST.', 'in')
  if (sizeParameter !== undefined && size === undefined) part.wrong('sizeParameter needs size.', 'sizeParameter')
  if (by === 'url' && at.length === 0) part.wrong('pages needs at: the path to the address of the next page.')
  if (by === 'cursor' && at.length === 0 && header === undefined) {
    part.wrong('pages needs at, the path to the cursor in an answer, or header.')
  }
  return {
    by,
    parameter: hasParameter ? part.needed('parameter') : '',
    in: place,
    first: part.whole('first', 0, 1_000_000) ?? 1,
    ...(size === undefined ? {} : { size }),
    ...(sizeParameter === undefined ? {} : { sizeParameter }),
    ...(header === undefined ? {} : { header }),
    at,
  }
}

function readPartitions(part: Part): Partitions {
  if (part.has('values') === part.has('stream')) part.wrong('partitions needs either values or stream.')
  if (part.has('stream')) return { stream: part.needed('stream'), field: part.needed('field') }
  const values = (part.list('values', partitionsMax) ?? []).map((value, index) => {
    if (typeof value === 'string' || typeof value === 'number') return String(value)
    part.wrong('A value is a text or a number.', 'values', index)
    return ''
  })
  return { values }
}

function readCursor(part: Part): StreamCursor {
  const stepDays = part.whole('stepDays', 1, 3_660)
  const start = part.text('start', /^\d{4}-\d\d-\d\d$/, 'a day in quotation marks, such as "2026-01-31"')
  if (start !== undefined && Number.isNaN(Date.parse(start))) part.wrong('start must be a day that exists.', 'start')
  return {
    format: part.choice('format', ['time', 'date', 'seconds', 'milliseconds'] as const) ?? 'time',
    ...(stepDays === undefined ? {} : { stepDays }),
    lookBackDays: part.whole('lookBackDays', 0, 3_660) ?? 0,
    ...(start === undefined ? {} : { start }),
  }
}

function readRule(stream: Part, value: unknown, index: number): ErrorRule {
  const part = new Part(value, [...stream.path, 'errors', index], stream.problems, ['status', 'contains', 'action'])
  const contains = part.text('contains')
  const given = part.has('status') ? [part.object.status].flat() : []
  const fits = given.every((one) => Number.isSafeInteger(one) && Number(one) >= 100 && Number(one) <= 599)
  if (!fits) part.wrong('status must be a status from 100 to 599, or a list of them.', 'status')
  if (given.length === 0 && contains === undefined) part.wrong('A rule needs status or contains.')
  if (!part.has('action')) part.wrong('A rule needs action: ignore, retry, wait or fail.')
  return {
    status: given as number[],
    ...(contains === undefined ? {} : { contains }),
    action: part.choice('action', ['ignore', 'retry', 'wait', 'fail'] as const) ?? 'fail',
  }
}
