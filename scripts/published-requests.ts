/**
 * `node scripts/published-requests.ts <platform> <document> <source> 'POST /path' …` stores the rules for requests from an
 * OpenAPI or Swagger document of a platform: names, types, required keys and limits, without its texts. Test servers of described
 * destinations refuse requests that break these rules (`packages/connectors/test/published-requests.ts`). A path follows the base
 * address of the document. `POST /base|/path` adds a base that the document does not have. Requests of an earlier run stay, so
 * that several documents can describe one platform.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

type Json = Record<string, unknown>

const [platform = '', file = '', source = '', ...wanted] = process.argv.slice(2)
const document = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 }) as Json
const target = join(import.meta.dirname, `../packages/connectors/test/published/${platform}.json`)
const before = existsSync(target)
  ? (JSON.parse(readFileSync(target, 'utf8')) as { sources: string[]; requests: Json })
  : undefined

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

/** The target of a reference. */
function resolved(given: unknown): Json {
  const one = objectOf(given)
  if (typeof one.$ref !== 'string') return one
  const keys = one.$ref.replace('#/', '').split('/')
  const found = keys.reduce<unknown>(
    (at, key) => objectOf(at)[decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  )
  return resolved(found)
}

const limits = ['enum', 'const', 'minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum']

/** The rules of a schema. An object that lists its keys allows no others, unless the document allows them. */
function factsOf(given: unknown, depth = 0): Json {
  const schema = resolved(given)
  if (depth > 14) return {}
  const parts = listOf(schema.allOf).map((part) => factsOf(part, depth + 1))
  const choices = [...listOf(schema.oneOf), ...listOf(schema.anyOf)].map((one) => factsOf(one, depth + 1))
  const own: Json = {}
  const types = [schema.type ?? []].flat().filter((type) => type !== 'file')
  if (schema.nullable === true || schema['x-nullable'] === true) types.push('null')
  if (types.length > 0) own.type = types.length === 1 ? types[0] : types
  for (const key of limits) if (schema[key] !== undefined) own[key] = schema[key]
  if (schema.nullable === true && Array.isArray(own.enum)) own.enum = [...own.enum, null]
  const properties = objectOf(schema.properties)
  const names = Object.keys(properties).filter((name) => resolved(properties[name]).readOnly !== true)
  if (names.length > 0) {
    own.properties = Object.fromEntries(names.map((name) => [name, factsOf(properties[name], depth + 1)]))
    const more = schema.additionalProperties
    own.additionalProperties = typeof more === 'object' ? factsOf(more, depth + 1) : more === true
    // Other keys belong to the choices.
    if (choices.length > 0) own.additionalProperties = true
  }
  const required = (Array.isArray(schema.required) ? schema.required : []).filter(
    (name) => resolved(properties[name]).readOnly !== true,
  )
  if (required.length > 0) own.required = required
  if (schema.items !== undefined) own.items = factsOf(schema.items, depth + 1)
  // A choice that demands nothing allows everything.
  if (choices.length > 0 && choices.every((one) => Object.keys(one).length > 0)) {
    own.anyOf = own.type === 'null' ? [...choices, { type: 'null' }] : choices
    if (own.type === 'null') delete own.type
  }
  return [own, ...parts].reduce(merged)
}

/** Both schemas as one. */
function merged(a: Json, b: Json): Json {
  const together = { ...a, ...b }
  if (a.properties && b.properties) {
    together.properties = { ...objectOf(a.properties), ...objectOf(b.properties) }
    together.additionalProperties = a.additionalProperties === true || b.additionalProperties === true
  }
  if (a.required && b.required) together.required = [...(a.required as string[]), ...(b.required as string[])]
  return together
}

/** The facts of one request of the document. */
function requestOf(method: string, path: string): Json {
  const paths = objectOf(document.paths)
  const item = objectOf(paths[path])
  const operation = objectOf(item[method.toLowerCase()])
  if (Object.keys(operation).length === 0) throw new Error(`The document has no ${method} ${path}.`)
  const parameters = [...listOf(item.parameters), ...listOf(operation.parameters)].map(resolved)
  const named = (place: string) =>
    Object.fromEntries(
      parameters.filter((one) => one.in === place).map((one) => [String(one.name), one.required === true]),
    )
  const content = objectOf(resolved(operation.requestBody).content)
  const [type] = Object.keys(content).filter((name) => name.includes('json'))
  const given = parameters.find((one) => one.in === 'body')
  const body = type === undefined ? given?.schema : objectOf(content[type]).schema
  return {
    query: named('query'),
    headers: named('header'),
    ...(body !== undefined && { body: factsOf(body) }),
    ...(given?.required === false && { bodyIsOptional: true }),
  }
}

const all: Json = { ...before?.requests }
for (const one of wanted) {
  const [method = '', whole = ''] = one.split(' ')
  const [base = '', path = ''] = whole.includes('|') ? whole.split('|') : ['', whole]
  const request = requestOf(method, path)
  // Some documents describe several bodies of one path by paths that end with #name.
  const name = `${method} ${base}${path.replace(/#.*/, '')}`
  const same = path.includes('#') ? objectOf(objectOf(all[name]).body) : {}
  const bodies = [...listOf(same.anyOf), objectOf(request.body)]
  all[name] = path.includes('#') ? { ...request, body: { anyOf: bodies } } : request
}
const lines = Object.entries(all).map(([name, facts]) => `    ${JSON.stringify(name)}: ${JSON.stringify(facts)}`)
const sources = [...new Set([...(before?.sources ?? []), source])]
writeFileSync(target, `{\n  "sources": ${JSON.stringify(sources)},\n  "requests": {\n${lines.join(',\n')}\n  }\n}\n`)
