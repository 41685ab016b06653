import {
  type ApiOperation,
  answerNames,
  type FindRequest,
  type LaterResult,
  type OperationColumn,
  operationColumnTypes,
  operationMethods,
  type PreparedValue,
  type ResultRules,
  type RowResults,
} from './definition.ts'
import { checkTemplates, type OperationNames } from './read-names.ts'
import { Part } from './read-part.ts'
import { readRequest, requestKeys } from './read-request.ts'
import { expressionAt, readRule } from './read-stream-parts.ts'

const operationKeys = [
  ...requestKeys,
  ...['method', 'row', 'lines', 'batch', 'columns', 'parameters', 'values', 'result', 'later', 'errors'],
]
const name = /^[A-Za-z_][\w-]{0,99}$/
const nameWanted = 'a name of letters, digits, _ and -'
const columnsMax = 500

/** Names in the expressions about an answer, beside those of its request. */
const answered = answerNames.filter((one) => one !== 'last' && one !== 'count')

/** Names that expressions can have, each with its keys if these are known. */
export type Names = readonly (readonly [name: string, keys?: readonly string[]])[]
export const namesOf = (...names: Names): OperationNames => new Map(names.map(([one, keys]) => [one, keys]))

/** Reads an operation of a definition: what is sent of rows, and what answers say of them. */
export function readOperation(given: Part, key: string): ApiOperation {
  const part = given.part(key, operationKeys) ?? given.wrong(`${key} must be an object.`, key)
  const columns = readColumns(part)
  const parameters = namesIn(part, 'parameters')
  const always: Names = [['parameter', parameters], ['now']]
  const values = readValues(part, always)
  const ofRow: Names = [...always, ['row', Object.keys(columns)], ['id']]
  const batch = readBatch(part)
  const ofRequest: Names = [
    ...always,
    ['value', Object.keys(values)],
    ['request', ['id']],
    ['rows'],
    // A request with several rows has no row of its own.
    ...(batch.rows === 1 ? ofRow.slice(always.length) : []),
  ]
  const row = part.has('row') ? part.object.row : undefined
  if (row !== undefined) checkTemplates(part, ['row'], row, namesOf(...ofRow))
  const request = readRequest(part, namesOf(...ofRequest))
  const lines = part.flag('lines') ?? false
  if (lines && (request.body !== undefined || request.form))
    part.wrong('lines needs a request without body and form.', 'lines')
  const later = readLater(part, always)
  const result = readResult(part, always, Object.keys(columns))
  if (later && result.rows)
    part.wrong('The rows of a request with a later result are in later.result.', 'result', 'rows')
  return {
    ...request,
    method: part.choice('method', operationMethods) ?? 'POST',
    ...(row === undefined ? {} : { row }),
    lines,
    batch,
    columns,
    parameters,
    values,
    result,
    ...(later && { later }),
    errors: (part.list('errors', 50) ?? []).map((rule, index) => readRule(part, rule, index)),
  }
}

function readBatch(part: Part): ApiOperation['batch'] {
  const batch = part.part('batch', ['rows', 'bytes'])
  return {
    rows: batch?.whole('rows', 1, 100_000) ?? 1,
    bytes: batch?.whole('bytes', 1_000, 64 << 20) ?? 1_000_000,
  }
}

function readColumns(part: Part): ApiOperation['columns'] {
  const given = part.part('columns') ?? part.wrong('An operation needs columns: what a row can have.')
  const names = Object.keys(given.object)
  if (names.length === 0 || names.length > columnsMax) given.wrong(`columns must have 1 to ${columnsMax} columns.`)
  const columns: Record<string, OperationColumn> = {}
  for (const one of names) {
    if (!name.test(one) || one in Object.prototype) given.wrong(`A column has ${nameWanted}.`, one)
    columns[one] = readColumn(given, one)
  }
  return columns
}

/** A column: its type alone, or an object with more. */
function readColumn(given: Part, key: string): OperationColumn {
  const isType = typeof given.object[key] === 'string'
  const part = isType
    ? new Part({ type: given.object[key] }, [...given.path, key])
    : (given.part(key, ['type', 'description', 'required', 'identifies', 'lengthMax', 'values', 'unit', 'merges']) ??
      new Part({}, [...given.path, key]))
  const type = part.choice('type', operationColumnTypes) ?? 'text'
  const values = part.list('values', 500)
  if ((type === 'one of') !== (values !== undefined))
    part.wrong('The type one of needs values, and no other type has them.')
  if (values?.some((one) => typeof one !== 'string' || one === '' || one.length > 200))
    part.wrong('A value is a text.', 'values')
  const lengthMax = part.whole('lengthMax', 1, 1_000_000)
  const unit = part.choice('unit', ['seconds', 'milliseconds', 'iso', 'utc'] as const)
  if (unit !== undefined && type !== 'time') part.wrong('Only a time has a unit.', 'unit')
  if (lengthMax !== undefined && type !== 'text') part.wrong('Only a text has lengthMax.', 'lengthMax')
  const merges = part.flag('merges') ?? false
  if (merges && type !== 'object') part.wrong('Only an object merges.', 'merges')
  return {
    ...(merges && { merges }),
    type,
    description: part.text('description') ?? '',
    required: part.flag('required') ?? false,
    identifies: part.flag('identifies') ?? false,
    ...(lengthMax === undefined ? {} : { lengthMax }),
    ...(values && { values: values as string[] }),
    ...(unit && { unit }),
  }
}

function namesIn(part: Part, key: string): readonly string[] {
  const given = part.list(key, 50) ?? []
  given.forEach((one, index) => {
    if (typeof one !== 'string' || !name.test(one)) part.wrong(`A name in ${key} is ${nameWanted}.`, key, index)
  })
  return given as string[]
}

/** Values in their order: each knows those before it. */
function readValues(part: Part, always: Names): ApiOperation['values'] {
  const given = part.part('values')
  const values: Record<string, PreparedValue> = {}
  for (const key of Object.keys(given?.object ?? {})) {
    if (!given) continue
    if (!name.test(key) || key in Object.prototype) given.wrong(`A value has ${nameWanted}.`, key)
    const one = given.part(key, ['find', 'create']) ?? given.wrong(`${key} must be an object with find or create.`, key)
    const known: Names = [...always, ['value', Object.keys(values)]]
    const find = one.part('find', [...requestKeys, 'method', 'at', 'where', 'value'])
    const create = one.part('create', [...requestKeys, 'method', 'value'])
    if (!find && !create) one.wrong('A value needs find, or create, or both.')
    values[key] = {
      ...(find && { find: readFind(find, known) }),
      ...(create && {
        create: {
          ...readRequest(create, namesOf(...known)),
          method: create.choice('method', operationMethods) ?? 'POST',
          value:
            expressionAt(create, 'value', namesOf(...known, ...ofAnswer)) ??
            create.wrong('create needs value: an expression.'),
        },
      }),
    }
  }
  return values
}

export const ofAnswer: Names = answered.map((one) => [one])

/** Reads a request for a list, of which an entry is meant. */
export function readFind(part: Part, known: Names): FindRequest {
  const ofEntry = namesOf(...known, ...ofAnswer, ['entry'])
  return {
    ...readRequest(part, namesOf(...known)),
    method: part.choice('method', ['GET', 'POST'] as const) ?? 'GET',
    at: part.keys('at'),
    where: expressionAt(part, 'where', ofEntry) ?? part.wrong('find needs where: an expression about entry.'),
    value: expressionAt(part, 'value', ofEntry) ?? part.wrong('find needs value: an expression about entry.'),
  }
}

/** Reads what an answer says of rows. Absent, its status says it. */
export function readResult(owner: Part, always: Names, columns: readonly string[]): ResultRules {
  const part = owner.part('result', ['refused', 'success', 'reason', 'rows', 'taken'])
  if (!part) return { refused: [400, 422] }
  const known: Names = [...always, ...ofAnswer]
  const refused = part.has('refused') ? [part.object.refused].flat() : [400, 422]
  const fits = refused.every((one) => Number.isSafeInteger(one) && Number(one) >= 400 && Number(one) <= 499)
  if (!fits) part.wrong('refused must be statuses from 400 to 499.', 'refused')
  const success = expressionAt(part, 'success', namesOf(...known))
  const reason = templateAt(part, 'reason', namesOf(...known))
  const taken = expressionAt(part, 'taken', namesOf(...known))
  const rows = part.part('rows', ['at', 'index', 'first', 'key', 'column', 'rejected', 'again', 'reason', 'field'])
  return {
    refused: refused as number[],
    ...(success === undefined ? {} : { success }),
    ...(reason === undefined ? {} : { reason }),
    ...(taken === undefined ? {} : { taken }),
    ...(rows && { rows: readRowResults(rows, namesOf(...known, ['entry']), columns) }),
  }
}

function readRowResults(part: Part, known: OperationNames, columns: readonly string[]): RowResults {
  const index = expressionAt(part, 'index', known)
  const key = expressionAt(part, 'key', known)
  const first = part.whole('first', 0, 1)
  if (index !== undefined && key !== undefined) part.wrong('An entry names its row by either index or key.', 'key')
  if (first !== undefined && index === undefined)
    part.wrong('first is the number of the first row: it needs index.', 'first')
  if ((key === undefined) !== !part.has('column')) part.wrong('key needs column, and column needs key.')
  const named = key === undefined ? [] : [part.object.column].flat().map(String)
  const unknown = named.find((one) => !columns.includes(one))
  if (unknown !== undefined)
    part.wrong(`column must be a column of the operation, or a list of them; ${unknown} is none.`, 'column')
  const rejected = expressionAt(part, 'rejected', known)
  const again = expressionAt(part, 'again', known)
  const reason = templateAt(part, 'reason', known)
  const field = templateAt(part, 'field', known)
  if (index === undefined && key === undefined && rejected === undefined) {
    part.wrong('Entries in the order of the rows need rejected: an expression that holds if a row was not taken.')
  }
  return {
    at: part.keys('at'),
    by:
      index !== undefined
        ? { kind: 'index', value: index, first: first ?? 0 }
        : key !== undefined
          ? { kind: 'key', value: key, columns: named }
          : { kind: 'order' },
    ...(rejected === undefined ? {} : { rejected }),
    ...(again === undefined ? {} : { again }),
    ...(reason === undefined ? {} : { reason }),
    ...(field === undefined ? {} : { field }),
  }
}

function readLater(owner: Part, always: Names): LaterResult | undefined {
  const keys = [...requestKeys, 'method', 'job', 'done', 'failed', 'everySeconds', 'waitSeconds', 'from', 'result']
  const part = owner.part('later', keys)
  if (!part) return undefined
  const known = namesOf(...always, ['job'])
  const ofLater = namesOf(...always, ['job'], ...ofAnswer)
  const failed = expressionAt(part, 'failed', ofLater)
  const from = part.part('from', ['server', 'path', 'query', 'headers'])
  const result = readResult(part, always, [])
  if (result.rows?.by.kind === 'key')
    part.wrong('Entries of a later result name their rows by index, or by their order.', 'result', 'rows', 'key')
  return {
    ...readRequest(part, known),
    method: part.choice('method', ['GET', 'POST'] as const) ?? 'GET',
    job:
      expressionAt(part, 'job', namesOf(...always, ...ofAnswer)) ??
      part.wrong('later needs job: an expression about the first answer.'),
    done: expressionAt(part, 'done', ofLater) ?? part.wrong('later needs done: an expression.'),
    ...(failed === undefined ? {} : { failed }),
    everySeconds: part.whole('everySeconds', 1, 300) ?? 5,
    waitSeconds: part.whole('waitSeconds', 1, 3_600) ?? 600,
    ...(from && { from: readRequest(from, known) }),
    result,
  }
}

function templateAt(part: Part, key: string, known: OperationNames): string | undefined {
  const text = part.text(key, /[\s\S]/, 'a text', 4_000)
  if (text !== undefined) checkTemplates(part, [key], text, known)
  return text
}
