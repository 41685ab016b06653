import type * as Wire from '@penstock/wire'
import type { Operation, TSchema } from '@penstock/wire'

/** Writes the contract for programs that have neither the schemas nor the library that derives their types. */

/** How each operation is called, and what the call requires. The service itself checks the content of bodies. */
export const callsOf = (operations: Readonly<Record<string, Operation>>) =>
  Object.fromEntries(Object.entries(operations).map(([id, operation]) => [id, callOf(operation)]))

function callOf({
  method,
  path,
  actsIn,
  scope,
  person,
  body,
  file,
  list,
  bare,
  reads,
  success,
  already,
  streams,
}: Operation) {
  return { method, path, actsIn, scope, person, body: body && {}, file, list, bare, reads, success, already, streams }
}

/** The module: the base path, and how each operation is called. */
export function contractModule({ basePath, operations }: typeof Wire): string {
  const calls = Object.entries(callsOf(operations)).map(([id, call]) => `  ${id}: ${JSON.stringify(call)},\n`)
  return `export const basePath = ${JSON.stringify(basePath)}\nexport const operations = {\n${calls.join('')}}\n`
}

/** The declaration of a field error, which is no schema. */
export const fieldErrorType = `/** One field error of a request: the field, and how to fix it. */
export type FieldError = { field: string; message: string }
`

/** The declaration of only one resource. @param name the name of an object schema, such as `Field` */
export function resourceType(wire: typeof Wire, name: keyof typeof Wire): string {
  const schema: unknown = wire[name]
  if (!isObjectSchema(schema)) throw new Error(`${name} is no schema of an object.`)
  return `${comment(schema)}export type ${name} = ${printer(new Map())(schema, '', false)}\n`
}

/** Its declarations: a type for each resource, and one for all operations. */
export function contractTypes(wire: typeof Wire): string {
  const { basePath, errors, eventSchema, eventTypeNames, events, operations } = wire
  const names = new Map<TSchema, string>()
  for (const [name, value] of Object.entries(wire)) {
    if (/^[A-Z]/.test(name) && isObjectSchema(value)) names.set(value, name)
  }
  const print = printer(names)
  const resources = [...names].map(
    ([schema, name]) => `${comment(schema)}export type ${name} = ${print(schema, '', false)}\n`,
  )
  const eventTypes = eventTypeNames.map(
    (type) => `  /** ${events[type].when} */\n  '${type}': ${print(eventSchema(type), '  ')}\n`,
  )
  const described = Object.entries<Operation>(operations).map(([id, operation]) => {
    const {
      method,
      path,
      actsIn,
      query,
      exactlyOne,
      body,
      file,
      reply,
      list,
      bare,
      reads,
      unrepeatable,
      already,
      streams,
    } = operation
    const lines = [
      `method: '${method}'`,
      `path: '${path}'`,
      `actsIn: '${actsIn}'`,
      query && `query: ${printQuery(query, print)}`,
      exactlyOne && `exactlyOne: readonly [${exactlyOne.map((name) => `'${name}'`).join(', ')}]`,
      body && `body: ${print(body, '    ')}`,
      file && 'file: true',
      `reply: ${print(reply, '    ')}`,
      list && `list: '${list}'`,
      bare && 'bare: true',
      reads && 'reads: true',
      unrepeatable && 'unrepeatable: true',
      operation.concurrency && `concurrency: '${operation.concurrency}'`,
      already && 'already: string',
      streams && `streams: readonly [${streams.map((type) => `'${type}'`).join(', ')}]`,
    ]
    return `  /** ${operation.summary}. ${operation.description.replaceAll('*/', '')} */\n  ${id}: {\n${lines
      .filter(Boolean)
      .map((line) => `    ${line}\n`)
      .join('')}  }\n`
  })
  return `export declare const basePath = ${JSON.stringify(basePath)}
export declare const operations: Record<OperationId, Operation>

/** How an operation is called, as the client sees it. */
export type Operation = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  actsIn: 'public' | 'organization' | 'account' | 'organization or account'
  body?: object
  file?: true
  list?: 'whole' | 'paged'
  bare?: true
  reads?: true
  success?: 200 | 201 | 202
  already?: string
  streams?: readonly string[]
}

export type ErrorCode = ${Object.keys(errors)
    .map((code) => `'${code}'`)
    .join(' | ')}

${fieldErrorType}
${resources.join('\n')}
/** Every event, by its type. */
export interface Events {
${eventTypes.join('')}}
export type EventType = keyof Events
/** An event as a webhook receives it, of one type or of any. */
export type PenstockEvent<T extends EventType = EventType> = Events[T]

/** Every operation: how it is called, what it takes and what it answers. */
export interface Operations {
${described.join('')}}
export type OperationId = keyof Operations
export type QueryOf<I extends OperationId> = Operations[I] extends { query: infer Q } ? Q : Record<never, never>
/** The bytes of a file that is uploaded. */
export type FileBody = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>
export type BodyOf<I extends OperationId> = Operations[I] extends { body: infer B } ? B : Operations[I] extends { file: true } ? FileBody : undefined
export type ReplyOf<I extends OperationId> = Operations[I] extends { list: string; reply: infer R } ? R[] : Operations[I]['reply']
export type IsPaged<I extends OperationId> = Operations[I] extends { list: 'paged' } ? true : false
`
}

type Printer = (schema: TSchema, indent: string, named?: boolean) => string

const isObjectSchema = (value: unknown): value is TSchema =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'object' && 'properties' in value

const comment = ({ description }: { description?: string } & TSchema, indent = '') =>
  description ? `${indent}/** ${description.replaceAll('*/', '')} */\n` : ''

/** Prints the type of a schema; for a resource, its name. */
function printer(names: ReadonlyMap<TSchema, string>): Printer {
  const print: Printer = (schema, indent, named = true) => {
    const name = named ? names.get(schema) : undefined
    if (name) return name
    const {
      type,
      properties,
      required = [],
      items,
      anyOf,
      patternProperties,
      ...rest
    } = schema as unknown as JsonSchema
    if (anyOf) return [...new Set(anyOf.map((one) => print(one, indent)))].join(' | ')
    if (rest.const !== undefined) return JSON.stringify(rest.const)
    if (rest.enum) return rest.enum.map((value) => JSON.stringify(value)).join(' | ')
    if (properties) {
      const inner = `${indent}  `
      const lines = Object.entries(properties).map(
        ([key, value]) =>
          `${comment(value, inner)}${inner}${key}${required.includes(key) ? '' : '?'}: ${print(value, inner)}\n`,
      )
      return lines.length > 0 ? `{\n${lines.join('')}${indent}}` : 'Record<never, never>'
    }
    if (patternProperties)
      return `Record<string, ${Object.values(patternProperties)
        .map((value) => print(value, indent))
        .join(' | ')}>`
    if (items) return `Array<${print(items, indent)}>`
    if (type === 'integer' || type === 'number') return 'number'
    if (type === 'string' || type === 'boolean' || type === 'null') return type
    if (type === 'array') return 'unknown[]'
    return type === 'object' ? 'Record<string, unknown>' : 'unknown'
  }
  return print
}

/** A query, coerced and with its defaults, like `QueryOf`: values with a default are present. */
function printQuery(query: Readonly<Record<string, TSchema>>, print: Printer): string {
  return `{ ${Object.entries(query)
    .map(([name, schema]) => `${name}?: ${print(schema, '')}`)
    .join('; ')} }`
}

type JsonSchema = {
  type?: string
  properties?: Record<string, TSchema>
  required?: readonly string[]
  items?: TSchema
  anyOf?: readonly TSchema[]
  patternProperties?: Record<string, TSchema>
  enum?: readonly unknown[]
  const?: unknown
}
