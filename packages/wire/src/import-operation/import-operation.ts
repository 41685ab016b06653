import { ImportedDocument, ImportRefused, isProperties, own, type Placed, type Properties } from './document.ts'
import { ColumnCollector, hasProperties, propertiesOf, requiredOf, schemaAt, typeOf } from './schema.ts'

/** An operation of OpenAPI (3.0, 3.1), or the JSON Schema of a body, as the skeleton of an operation of a definition. */
export type ImportedOperation = {
  /** Name for the operation. */
  readonly name: string
  /** The operation, with the keys of a definition. */
  readonly operation: Properties
  /** Values of the configuration that the document suggests, such as `url`; no secrets. */
  readonly values: Readonly<Record<string, string>>
  /** Sentences about parts that a person must look at. */
  readonly notes: readonly string[]
}

const methods = ['post', 'put', 'patch', 'delete'] as const
/** Rows of a request, if the document does not limit a list. */
const batchRows = 100
const listedMax = 20
/** Headers that the connector sets. */
const ownHeaders = /^(?:accept|authorization|content-type|content-length|host|user-agent|cookie)$/i

/**
 * Imports an operation.
 * @param root the document, as JSON or YAML was read
 * @param wanted `POST /people`, or the ID of the operation; empty: the only operation that sends something
 * @throws ImportRefused with the place of what cannot be imported
 */
export function importOperation(root: unknown, wanted = ''): ImportedOperation {
  const document = new ImportedDocument(root)
  const top = document.object(root, [])
  if (own(top.value, 'openapi') !== undefined) return ofOpenApi(document, top, wanted.trim())
  if (own(top.value, 'swagger') !== undefined)
    throw new ImportRefused('Swagger 2.0 cannot be imported. Convert the document to OpenAPI 3.', ['swagger'])
  if (own(top.value, 'paths') !== undefined)
    throw new ImportRefused('The document has paths, but no key openapi with its version.', [])
  const notes: string[] = ['The schema has no path: enter it.']
  const operation = {
    path: '/',
    ...bodyOf(document, schemaAt(document, root, []), new ColumnCollector(document, notes)),
  }
  const title = own(top.value, 'title')
  return { name: nameOf(typeof title === 'string' ? title : 'send'), operation, values: {}, notes }
}

/** Letters that the name of an operation can have. */
const nameOf = (text: string): string =>
  text
    .replace(/[^\p{L}\p{N}_ .-]+/gu, ' ')
    .trim()
    .slice(0, 100) || 'send'

type Found = { readonly label: string; readonly path: string; readonly method: string; readonly item: Placed }

function ofOpenApi(document: ImportedDocument, top: Placed, wanted: string): ImportedOperation {
  const version = String(own(top.value, 'openapi'))
  if (!/^3\.[01](?:\.|$)/.test(version))
    throw new ImportRefused(`OpenAPI ${version.slice(0, 20)} is not known: use 3.0 or 3.1.`, ['openapi'])
  const { label, path, method, item } = find(document, top, wanted)
  const operation = document.child(item, method) ?? item
  const notes: string[] = []
  const columns = new ColumnCollector(document, notes)
  const request = document.child(operation, 'requestBody')
  const body = request ? ofContent(document, request, columns) : {}
  const isSingle = own(own2(body, 'batch'), 'rows') === undefined
  const filled = withParameters(document, { path, item, operation }, isSingle, columns)
  const all = { ...filled.request, ...(method !== 'post' && { method: method.toUpperCase() }), ...body }
  if (Object.keys(columns.columns).length === 0)
    throw new ImportRefused(`${label} sends nothing that could be a column.`, operation.place)
  return {
    name: nameOf(String(own(operation.value, 'operationId') ?? own(operation.value, 'summary') ?? label)),
    operation: {
      ...all,
      columns: columns.columns,
      ...(filled.parameters.length > 0 && { parameters: filled.parameters }),
    },
    values: valuesOf(document, top, operation, notes),
    notes,
  }
}

const own2 = (value: Properties, key: string): Properties => {
  const found = own(value, key)
  return isProperties(found) ? found : {}
}

/** The operation that is wanted. Throws `ImportRefused` that lists the operations there are. */
function find(document: ImportedDocument, top: Placed, wanted: string): Found {
  const paths = document.child(top, 'paths')
  const all: (Found & { readonly id: string })[] = []
  for (const path of Object.keys(paths?.value ?? {})) {
    if (!paths || !path.startsWith('/')) continue
    const item = document.object(paths.value[path], ['paths', path])
    for (const method of methods) {
      const operation = own(item.value, method)
      if (operation === undefined) continue
      const id = String(own(isProperties(operation) ? operation : {}, 'operationId') ?? '')
      all.push({ label: `${method.toUpperCase()} ${path}`, path, method, item, id })
    }
  }
  const fits = ({ label, id }: (typeof all)[number]) =>
    id === wanted || label.toLowerCase() === wanted.replace(/\s+/, ' ').toLowerCase()
  const found = wanted === '' ? all : all.filter(fits)
  const [only, another] = found
  if (only && !another) return only
  const labels = all.slice(0, listedMax).map(({ label }) => label.slice(0, 100))
  const listed = `${labels.join(', ')}${all.length > listedMax ? ', …' : ''}`
  if (all.length === 0) throw new ImportRefused('The document has no operation that sends something.', ['paths'])
  const what =
    wanted === '' ? 'Name an operation' : `The document has no operation ${wanted.slice(0, 100)}. Name another one`
  throw new ImportRefused(`${what}: ${listed}.`, ['paths'])
}

/** The body of a request, and the columns of its rows. */
function ofContent(document: ImportedDocument, request: Placed, columns: ColumnCollector): Properties {
  const content = document.child(request, 'content')
  const types = Object.keys(content?.value ?? {})
  const json = types.find((type) => /^(?:application\/(?:.*\+)?json|\*\/\*|application\/\*)\s*(?:;|$)/i.test(type))
  const form = types.find((type) => /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type))
  const type = json ?? form
  if (!content || type === undefined) {
    const known = types.slice(0, 5).join(', ').slice(0, 200)
    throw new ImportRefused(`The body is neither JSON nor a form${known && `, but ${known}`}.`, request.place)
  }
  const media = document.object(content.value[type], [...content.place, type])
  const schema = own(media.value, 'schema')
  if (schema === undefined) throw new ImportRefused('The body has no schema.', media.place)
  const read = schemaAt(document, schema, [...media.place, 'schema'])
  if (json !== undefined) return bodyOf(document, read, columns)
  if (!hasProperties(read)) throw new ImportRefused('The form has no properties.', read.place)
  const row = columns.object(read, true)
  // A form has texts only: an object in it is one value.
  const flat = Object.entries(isProperties(row) ? row : {}).filter(([, one]) => typeof one === 'string')
  if (flat.length < Object.keys(row as Properties).length) columns.notes.push('Objects in the form are left out.')
  return { form: Object.fromEntries(flat) }
}

/** A body of one row, a list of rows, or an object around a list of rows. Throws `ImportRefused`. */
function bodyOf(document: ImportedDocument, schema: Placed, columns: ColumnCollector): Properties {
  if (typeOf(schema) === 'array') return { ...rowsOf(document, schema, columns), columns: columns.columns }
  if (!hasProperties(schema))
    throw new ImportRefused('The body is neither an object with properties nor a list of them.', schema.place)
  const required = requiredOf(schema)
  const lists = Object.entries(propertiesOf(schema)).flatMap(([key, one]) => {
    const list = schemaAt(document, one === false ? {} : one, [...schema.place, 'properties', key])
    return typeOf(list) === 'array' && itemOf(document, list) ? [{ key, list }] : []
  })
  const [only, another] = lists
  const isAlone = Object.keys(propertiesOf(schema)).length === 1
  if (only && !another && (isAlone || required.has(only.key)) && [...required].every((key) => key === only.key)) {
    return { ...rowsOf(document, only.list, columns), body: { [only.key]: '{{ rows }}' }, columns: columns.columns }
  }
  return { row: columns.object(schema, true), columns: columns.columns }
}

/** The objects in a list; `undefined` if it has others. */
function itemOf(document: ImportedDocument, list: Placed): Placed | undefined {
  const items = own(list.value, 'items')
  if (items === undefined || typeof items === 'boolean') return undefined
  const item = schemaAt(document, items, [...list.place, 'items'])
  return hasProperties(item) ? item : undefined
}

function rowsOf(document: ImportedDocument, list: Placed, columns: ColumnCollector): Properties {
  const item = itemOf(document, list)
  if (!item) throw new ImportRefused('The list has no objects with properties.', list.place)
  const max = own(list.value, 'maxItems')
  const rows = Number.isSafeInteger(max) && Number(max) >= 1 ? Math.min(Number(max), 100_000) : batchRows
  return { ...(rows > 1 && { batch: { rows } }), row: columns.object(item, true) }
}

/** The path, with the parameters that a request needs: columns of a row, or values that a connection enters. */
function withParameters(
  document: ImportedDocument,
  { path, item, operation }: { path: string; item: Placed; operation: Placed },
  isSingle: boolean,
  columns: ColumnCollector,
) {
  const parameters: string[] = []
  const query: Record<string, string> = {}
  const headers: Record<string, string> = {}
  const templates = new Map<string, string>()
  const all = [operation, item].flatMap((one) => {
    const list = own(one.value, 'parameters')
    return Array.isArray(list)
      ? list.map((each: unknown, index) => document.object(each, [...one.place, 'parameters', index]))
      : []
  })
  const entered = (name: string): string => {
    const known = name
      .replace(/[^A-Za-z0-9_]+/g, '_')
      .replace(/^[^A-Za-z_]/, '_$&')
      .slice(0, 90)
    if (!parameters.includes(known)) parameters.push(known)
    return `{{ parameter.${known} }}`
  }
  for (const { value, place } of all) {
    const name = String(own(value, 'name') ?? '')
    const where = own(value, 'in')
    if (name === '' || templates.has(`${where} ${name}`)) continue
    templates.set(`${where} ${name}`, '')
    if (where === 'path') {
      const column = { type: 'text', required: true }
      templates.set(name, isSingle ? columns.add(name, column, place) : entered(name))
    } else if (own(value, 'required') === true) {
      if (where === 'query') query[name] = entered(name)
      else if (where === 'header' && /^[A-Za-z0-9_-]+$/.test(name) && !ownHeaders.test(name))
        headers[name] = entered(name)
      else columns.notes.push(`The parameter ${name.slice(0, 100)} in ${where} is left out.`)
    }
  }
  const filled = path.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const known = templates.get(name)
    if (known) return known
    return isSingle ? columns.add(name, { type: 'text', required: true }, operation.place) : entered(name)
  })
  const request = {
    path: filled,
    ...(Object.keys(query).length > 0 && { query }),
    ...(Object.keys(headers).length > 0 && { headers }),
  }
  return { request, parameters }
}

/** The base URL and how requests are signed in. */
function valuesOf(document: ImportedDocument, top: Placed, operation: Placed, notes: string[]): Record<string, string> {
  const servers = own(top.value, 'servers')
  const [first] = Array.isArray(servers) ? servers : []
  const url = isProperties(first) ? String(own(first, 'url') ?? '') : ''
  const isWhole = /^https?:\/\/[^\s{}?#]+$/.test(url)
  if (!isWhole) notes.push('The document names no address of a server that can be used: enter the base URL.')
  const [needed] = [own(operation.value, 'security') ?? own(top.value, 'security')].flat()
  const [name] = isProperties(needed) ? Object.keys(needed) : []
  const schemes = document.child(document.child(top, 'components') ?? { value: {}, place: [] }, 'securitySchemes')
  const scheme = name === undefined || !schemes ? undefined : document.child(schemes, name)
  return { ...(isWhole && { url: url.replace(/\/$/, '') }), ...(scheme && signInOf(scheme, notes)) }
}

function signInOf({ value }: Placed, notes: string[]): Record<string, string> {
  const type = own(value, 'type')
  const name = String(own(value, 'name') ?? '')
  if (type === 'apiKey' && own(value, 'in') !== 'cookie' && /^[\w.-]{1,100}$/.test(name)) {
    return { authentication: 'API key', keyName: name, ...(own(value, 'in') === 'query' && { keyIn: 'query' }) }
  }
  const scheme = String(own(value, 'scheme') ?? '').toLowerCase()
  if (type === 'http' && scheme === 'bearer') return { authentication: 'bearer token' }
  if (type === 'http' && scheme === 'basic') return { authentication: 'user name and password' }
  notes.push('Choose the authentication: that of the document is not recognised.')
  return {}
}
