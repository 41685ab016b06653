import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Received } from './platform-server.ts'

/** The demands of a platform's documents on its requests. `scripts/published-requests.ts` writes these facts. */
type Published = {
  /** The documents, with their versions. */
  readonly sources: readonly string[]
  /** By method and path, `POST /lists/{id}`. */
  readonly requests: Readonly<Record<string, PublishedRequest>>
}

/** The parameters and headers, and whether they are required; the schema of the body, if the request has one. */
type PublishedRequest = {
  readonly query: Readonly<Record<string, boolean>>
  readonly headers: Readonly<Record<string, boolean>>
  readonly body?: object
  readonly bodyIsOptional?: true
}

/** A judge of requests. */
export type Judge = {
  readonly sources: readonly string[]
  /** Why the documents refuse a request; `undefined` if they allow it. */
  refusal(received: Pick<Received, 'method' | 'path' | 'query' | 'headers' | 'json' | 'text'>): string | undefined
}

/**
 * The judge of a platform, which refuses what the platform's own documents refuse. Throws if the platform has no facts.
 * @param beyond paths of keys that the documents do not name and that are not judged, `members.*.tags`
 */
export function openJudge(platform: string, beyond: readonly string[] = []): Judge {
  const file = join(import.meta.dirname, `published/${platform}.json`)
  if (!existsSync(file))
    throw new Error(`There are no published facts of ${platform}: run scripts/published-requests.ts.`)
  const { sources, requests } = JSON.parse(readFileSync(file, 'utf8')) as Published
  const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false })
  const known = Object.entries(requests).map(([name, facts]) => {
    const [method = '', path = ''] = name.split(' ')
    const pattern = path.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'))
    return {
      name,
      method,
      facts,
      path: new RegExp(`^${pattern.join('[^/]+')}$`),
      valid: facts.body && ajv.compile(facts.body),
    }
  })
  return {
    sources,
    refusal(received) {
      const one = known.find(({ method, path }) => method === received.method && path.test(received.path))
      if (!one) return `The documents have no ${received.method} ${received.path}.`
      return refusalBy(one, { ...received, json: beyond.reduce(withoutKey, received.json) })
    },
  }
}

function refusalBy(
  { name, facts, valid }: { name: string; facts: PublishedRequest; valid: ValidateFunction | undefined },
  { query, headers, json, text }: Pick<Received, 'query' | 'headers' | 'json' | 'text'>,
): string | undefined {
  const unknown = [...query.keys()].find((key) => !Object.hasOwn(facts.query, key))
  if (unknown !== undefined) return `${name} has no parameter ${unknown}.`
  const missing = [
    ...Object.keys(facts.query).filter((key) => facts.query[key] && !query.has(key)),
    ...Object.keys(facts.headers).filter((key) => facts.headers[key] && headers[key.toLowerCase()] === undefined),
  ]
  if (missing.length > 0) return `${name} needs ${missing.join(', ')}.`
  if (!valid) return text === '' ? undefined : `${name} has no body.`
  if (valid(json) || (text === '' && facts.bodyIsOptional)) return undefined
  const [error] = valid.errors ?? []
  return `${name}: ${error?.instancePath ?? ''} ${error?.message ?? ''} ${JSON.stringify(error?.params)}`
}

/** A value without what is at a path, in which `*` is each item. */
function withoutKey(value: unknown, path: string): unknown {
  const [key = '', ...rest] = path.split('.')
  if (Array.isArray(value)) return key === '*' ? value.map((one) => withoutKey(one, rest.join('.'))) : value
  if (typeof value !== 'object' || value === null || !(key in value)) return value
  const { [key]: inside, ...others } = value as Record<string, unknown>
  return rest.length === 0 ? others : { ...others, [key]: withoutKey(inside, rest.join('.')) }
}
