import { formOfStrftime } from '@penstock/expressions/times'
import type {
  AnswerForm,
  ApiStream,
  ErrorRule,
  Pages,
  PartitionStream,
  Partitions,
  StreamCursor,
} from './definition.ts'
import { partitionsMax } from './definition.ts'
import { checkExpression, checkTemplates, type KnownNames, type OperationNames } from './read-names.ts'
import { Part } from './read-part.ts'

/** The form of the name of a header. */
export const headerName = /^[A-Za-z0-9_-]+$/

/** Headers that the connector or the protocol sets. */
export const isOwnHeader = (name: string): boolean =>
  /^(authorization|cookie|host|connection|content-length|transfer-encoding|accept-encoding)$/i.test(name)

const pageKeys = ['by', 'parameter', 'in', 'first', 'size', 'sizeParameter', 'at', 'header', 'next', 'stop']

/** Reads how the pages of a stream follow each other. */
export function readPaging(stream: Part, method: ApiStream['method'], known: KnownNames): Pages | undefined {
  const part = stream.part('pages', pageKeys)
  if (!part) return undefined
  if (!part.has('by')) part.wrong('pages needs by: page, offset, cursor, link or url.')
  const by = part.choice('by', ['page', 'offset', 'cursor', 'link', 'url'] as const) ?? 'page'
  const size = part.whole('size', 1, 100_000)
  const sizeParameter = part.text('sizeParameter')
  const place = part.choice('in', ['query', 'body', 'header'] as const) ?? 'query'
  const header = part.text('header', headerName, 'the name of a header')
  const at = part.keys('at')
  const next = expressionAt(part, 'next', { ...known, of: 'answer' })
  const stop = expressionAt(part, 'stop', { ...known, of: 'answer' })
  if (place === 'body' && method === 'GET') part.wrong('Parameters in the body need the method POST.', 'in')
  if (sizeParameter !== undefined && size === undefined) part.wrong('sizeParameter needs size.', 'sizeParameter')
  const isFound = at.length > 0 || next !== undefined
  if (by === 'url' && !isFound) part.wrong('pages needs at: the path to the address of the next page.')
  if (by === 'cursor' && !isFound && header === undefined) {
    part.wrong('pages needs at, the path to the cursor in an answer, or header, or next.')
  }
  // A page can also be named by the templates of the stream.
  const hasParameter = by === 'page' || by === 'offset' || by === 'cursor'
  const isNamed = /\bpage\b/.test(templatesOf(stream))
  const parameter = !hasParameter ? '' : isNamed ? (part.text('parameter') ?? '') : part.needed('parameter')
  if (place === 'header') {
    for (const name of [parameter, sizeParameter ?? '']) {
      if (name !== '' && (!headerName.test(name) || isOwnHeader(name))) part.wrong(`${name} cannot be a header.`, 'in')
    }
  }
  return {
    by,
    parameter,
    in: place,
    first: part.whole('first', 0, 1_000_000) ?? 1,
    ...(size === undefined ? {} : { size }),
    ...(sizeParameter === undefined ? {} : { sizeParameter }),
    ...(header === undefined ? {} : { header }),
    at,
    ...(next === undefined ? {} : { next }),
    ...(stop === undefined ? {} : { stop }),
  }
}

const templatesOf = ({ object: { path, query, headers, body, form } }: Part): string =>
  JSON.stringify([path, query, headers, body, form])

/** The expression under a key; its names are checked. */
export function expressionAt(part: Part, key: string, known: KnownNames | OperationNames): string | undefined {
  const text = part.text(key, /[\s\S]/, 'an expression', 4_000)
  if (text !== undefined) checkExpression(part, [key], text, known)
  return text
}

/** Reads the form of the answers of a stream. */
export function readAnswer(stream: Part): AnswerForm {
  const part = stream.part('answer', ['form', 'delimiter'])
  const delimiter = part?.text('delimiter', /^[^"\r\n]$/, 'one character')
  return {
    form: part?.choice('form', ['json', 'lines', 'csv', 'xml'] as const) ?? 'json',
    ...(delimiter === undefined ? {} : { delimiter }),
  }
}

/** Reads the partitions of a stream: one kind, or a list of kinds with names. */
export function readPartitions(stream: Part): readonly Partitions[] | undefined {
  const given = stream.object.partitions
  if (!Array.isArray(given)) {
    const part = stream.part('partitions', ['values', 'stream', 'field', 'fields', 'of'])
    return part && [readPartitionKind(part)]
  }
  const kinds = (stream.list('partitions', 5) ?? []).map((value, index) => {
    const path = [...stream.path, 'partitions', index]
    const part = new Part(value, path, ['name', 'values', 'stream', 'field', 'fields', 'of'])
    return {
      name: part.needed('name', /^[A-Za-z_]\w{0,50}$/, 'a name of letters, digits and _'),
      ...readPartitionKind(part),
    }
  })
  if (new Set(kinds.map(({ name }) => name)).size < kinds.length)
    stream.wrong('partitions has a name twice.', 'partitions')
  return kinds
}

function readPartitionKind(part: Part): Partitions {
  const kinds = ['values', 'stream', 'of'].filter((kind) => part.has(kind))
  if (kinds.length !== 1) part.wrong('partitions needs either values or stream.')
  if (part.has('stream')) return { of: [readPartitionStream(part)] }
  if (part.has('of')) {
    const of = (part.list('of', 20) ?? []).map((value, index) => {
      const keys = ['stream', 'field', 'fields']
      return readPartitionStream(new Part(value, [...part.path, 'of', index], keys))
    })
    return { of }
  }
  const values = (part.list('values', partitionsMax) ?? []).map((value, index) => {
    if (typeof value === 'string' || typeof value === 'number') return String(value)
    part.wrong('A value is a text or a number.', 'values', index)
    return ''
  })
  return { values }
}

function readPartitionStream(part: Part): PartitionStream {
  const fields = (part.list('fields', 50) ?? []).filter((one) => typeof one === 'string')
  return { stream: part.needed('stream'), field: part.needed('field'), fields }
}

const formats = ['time', 'date', 'seconds', 'milliseconds'] as const

/** Reads the cursor of a stream. */
export function readCursor(stream: Part): StreamCursor {
  const part = stream.part('cursor', ['format', 'stepDays', 'stepHours', 'lookBackDays', 'start', 'end'])
  if (!part) return { format: 'time', lookBackDays: 0 }
  const stepDays = part.whole('stepDays', 1, 3_660)
  const stepHours = part.whole('stepHours', 1, 24)
  if (stepDays !== undefined && stepHours !== undefined) part.wrong('A cursor has either stepDays or stepHours.')
  const isCalculated = String(part.object.start).includes('{{')
  const start = isCalculated
    ? part.text('start')
    : part.text('start', /^\d{4}-\d\d-\d\d$/, 'a day in quotation marks, such as "2026-01-31"')
  if (start !== undefined && !isCalculated && Number.isNaN(Date.parse(start))) {
    part.wrong('start must be a day that exists.', 'start')
  }
  const end = part.text('end')
  for (const [key, value] of Object.entries({ start, end })) {
    checkTemplates(part, [key], value, { cursor: false, partitions: undefined, pages: false })
  }
  return {
    format: formatIn(part),
    ...(stepDays === undefined ? {} : { stepDays }),
    ...(stepHours === undefined ? {} : { stepHours }),
    lookBackDays: part.whole('lookBackDays', 0, 3_660) ?? 0,
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
  }
}

function formatIn(part: Part): string {
  const given = part.object.format
  if (typeof given !== 'string' || !given.includes('%')) return part.choice('format', formats) ?? 'time'
  if (given.length <= 100 && formOfStrftime(given) !== undefined) return given
  part.wrong('format has a part that is not known; known are %Y, %m, %d, %H, %M, %S, %f, %z.', 'format')
  return 'time'
}

/** Reads a rule about errors. */
export function readRule(stream: Part, value: unknown, index: number): ErrorRule {
  const keys = ['status', 'contains', 'when', 'action']
  const part = new Part(value, [...stream.path, 'errors', index], keys)
  const contains = part.text('contains')
  const when = expressionAt(part, 'when', { cursor: false, partitions: undefined, pages: false, of: 'answer' })
  const given = part.has('status') ? [part.object.status].flat() : []
  const fits = given.every((one) => Number.isSafeInteger(one) && Number(one) >= 100 && Number(one) <= 599)
  if (!fits) part.wrong('status must be a status from 100 to 599, or a list of them.', 'status')
  if (given.length === 0 && contains === undefined && when === undefined) {
    part.wrong('A rule needs status, contains or when.')
  }
  const actions = ['accept', 'ignore', 'retry', 'wait', 'fail'] as const
  if (!part.has('action')) part.wrong(`A rule needs action: ${actions.join(', ')}.`)
  return {
    status: given as number[],
    ...(contains === undefined ? {} : { contains }),
    ...(when === undefined ? {} : { when }),
    action: part.choice('action', actions) ?? 'fail',
  }
}
