import { METHODS } from 'node:http'
import { type Operation, takesIdempotencyKey } from '@penstock/wire'
import * as rubbish from './rubbish.ts'

/** Ways to spoil a valid request, each with a name that a failing test shows. */

/** A request before it is serialised. Names and values of the query are sent unchanged, including percent signs. */
export type Draft = {
  method: string
  /** Behind the base path, without the query. */
  path: string
  query: [name: string, value: string][]
  headers: Map<string, string>
  /** Source of the body: values, and `Raw` for content that JSON cannot express. */
  json: unknown
  /** The raw body, instead of `json`. */
  bytes?: Buffer
}

/** Text that is put into JSON unchanged. */
export class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Spoiling = { readonly name: string; readonly spoil: (draft: Draft) => void }

/** Writes JSON. Unlike `JSON.stringify`, it can repeat keys and write values that JavaScript does not have. */
export function writeJson(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (value instanceof Pairs) return `{${value.pairs.map(([key, inner]) => `${key}:${writeJson(inner)}`).join(',')}}`
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, inner]) => `${JSON.stringify(key)}:${writeJson(inner)}`)
      .join(',')}}`
  }
  return JSON.stringify(value)
}

/** An object whose keys, as JSON text, can be repeated or can be something other than texts. */
class Pairs {
  readonly pairs: readonly (readonly [key: string, value: unknown])[]
  constructor(pairs: readonly (readonly [string, unknown])[]) {
    this.pairs = pairs
  }
}

const spoiling = (name: string, spoil: (draft: Draft) => void): Spoiling => ({ name, spoil })

/** Ways to spoil the specific input of this operation. `draft` is a valid request of it. */
export function ownSpoilings(operation: Operation, draft: Draft): Spoiling[] {
  return [
    ...spoilingsOfValues(draft.json),
    ...spoilingsOfQuery(['accountId', ...Object.keys(operation.query ?? {})]),
    ...(operation.path.includes('{id}') ? rubbish.ids : []).map((id) =>
      spoiling(`path: identifier ${id.slice(0, 30)}`, (at) => {
        at.path = at.path.replace(/(?<=^\/[\w-]+\/)[^/]*/, id)
      }),
    ),
    ...(operation.path.includes('{transferId}') ? rubbish.ids : []).map((id) =>
      spoiling(`path: identifier of a transfer ${id.slice(0, 30)}`, (at) => {
        at.path = at.path.replace(/(?<=\/transfers\/)[^/]*/, id)
      }),
    ),
  ]
}

/** Ways to spoil a request of any operation. */
export function commonSpoilings(): Spoiling[] {
  return [
    ...Object.entries(rubbish.bodies).map(([what, bytes]) =>
      spoiling(`body: ${what}`, (at) => {
        at.bytes = bytes
      }),
    ),
    spoiling('body: BOM before it', (at) => {
      at.bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(writeJson(at.json ?? {}))])
    }),
    spoiling('body: invalid UTF-8 in a text', (at) => {
      const text = Buffer.from(writeJson(at.json ?? {}))
      const end = text.lastIndexOf('"')
      at.bytes = Buffer.concat([text.subarray(0, end), Buffer.from([0xff]), text.subarray(end)])
    }),
    ...spoilingsOfQuery(['unknown']),
    ...Object.entries(rubbish.queryNames).map(([what, name]) =>
      spoiling(`query name: ${what}`, (at) => void at.query.push([name, '1'])),
    ),
    spoiling('query: a thousand parameters', (at) => {
      for (let n = 0; n < 1_000; n++) at.query.push([`p${n}`, '1'])
    }),
    ...['/', '//', '/..', '%2f', ';a=b', '?', '?&&&=', '#here'].map((end) =>
      spoiling(`path: ends with ${end}`, (at) => {
        at.path += end
      }),
    ),
    ...Object.entries(rubbish.headers).flatMap(([name, all]) =>
      all.map((value) =>
        spoiling(`header ${name}: ${value?.slice(0, 30) ?? 'none'}`, (at) => {
          if (value === undefined) at.headers.delete(name)
          else at.headers.set(name, value)
        }),
      ),
    ),
    ...METHODS.filter((method) => method !== 'CONNECT').map((method) =>
      spoiling(`method: ${method}`, (at) => {
        at.method = method
      }),
    ),
  ]
}

/** Requests with a certain refusal: the rubbish, by its name, and the possible statuses. */
const certain: readonly [rubbish: RegExp, statuses: readonly number[], where: (operation: Operation) => boolean][] = [
  [
    /^(?!query).*: (?:NUL in text|lone \w+ surrogate|a thousand levels|object with \w+|array of everything)$/,
    [400],
    takesBody,
  ],
  [
    /^(?!query|conditions\.rejectedPercent|rules\.\d+\.percent).*: (?:zero|minus \w+|fraction|too large for a double|2\^53 \+ 1|thirty digits)$/,
    [400],
    // An overlap of 0 hours is valid, because it ends a secret immediately. A share of 0 percent, or of a fraction of a
    // percent, is valid too.
    (operation) => takesBody(operation) && !operation.path.endsWith('/rotate'),
  ],
  // The response of an authenticator can contain additional keys, and the rows of a trial have any columns.
  [
    /^body(?!\.rows\.\d+:).*: a key /,
    [400],
    (operation) => takesBody(operation) && !operation.path.includes('passkey'),
  ],
  [/^body: (?!just \{\}$|BOM before|larger|every)/, [400], takesBody],
  [/^body: larger than a body may be$/, [413], takesBody],
  [/^header content-type: (?!APPLICATION\/JSON$|application\/json;(?: charset=")?$)/, [415], takesBody],
  [/^header content-encoding: ./, [415], takesBody],
  [/^header authorization: /, [401], ({ actsIn, person }) => actsIn !== 'public' && !person],
  [/^header idempotency-key: (?:$| $|canary)/, [400], takesIdempotencyKey],
  [/^path: identifier /, [404, 400], () => true],
]

function takesBody({ body }: Operation): boolean {
  return body !== undefined
}

/** The statuses of which a spoiled request must get one. Undefined if nothing is certain. */
export function mustRefuse(operation: Operation, spoilingName: string): readonly number[] | undefined {
  return certain.find(([rubbish, , where]) => rubbish.test(spoilingName) && where(operation))?.[1]
}

/** Every value of the body is replaced by every kind of rubbish, or omitted. Every object gets every kind of key. */
function spoilingsOfValues(json: unknown): Spoiling[] {
  const paths = pathsIn(json).filter((at) => at.length > 0)
  const objects = pathsIn(json).filter((at) => isObject(valueAt(json, at)))
  return [
    ...paths.flatMap((at) => [
      ...Object.entries(rubbish.values).map(([what, text]) =>
        spoiling(`${at.join('.')}: ${what}`, (draft) => replace(draft, at, () => new Raw(text))),
      ),
      spoiling(`${at.join('.')}: in an array`, (draft) => replace(draft, at, (value) => [value])),
      spoiling(`${at.join('.')}: left out`, (draft) => replace(draft, at, () => undefined)),
    ]),
    ...objects.flatMap((at) => [
      ...Object.entries(rubbish.keys).map(([what, key]) =>
        spoiling(`${['body', ...at].join('.')}: a key ${what}`, (draft) =>
          replace(draft, at, (value) => new Pairs([...pairsOf(value), [key, rubbish.canary]])),
        ),
      ),
      spoiling(`${['body', ...at].join('.')}: every key twice`, (draft) =>
        replace(draft, at, (value) => new Pairs([...pairsOf(value), ...pairsOf(value)])),
      ),
    ]),
  ]
}

function spoilingsOfQuery(names: readonly string[]): Spoiling[] {
  const put = (draft: Draft, name: string, ...all: string[]) => {
    const others = draft.query.filter(([known]) => known !== name)
    draft.query = [...others, ...all.map((value): [string, string] => [name, value])]
  }
  return names.flatMap((name) => [
    ...Object.entries(rubbish.queryValues).map(([what, value]) =>
      spoiling(`query ${name}: ${what}`, (draft) => put(draft, name, value)),
    ),
    spoiling(`query ${name}: twice`, (draft) => put(draft, name, '1', '2')),
    spoiling(`query ${name}: left out`, (draft) => put(draft, name)),
  ])
}

type ValuePath = readonly (string | number)[]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Raw) &&
  !(value instanceof Pairs)

/** Every place in a value, the value itself first. */
function pathsIn(value: unknown, at: ValuePath = []): ValuePath[] {
  const inner = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : []
  return [at, ...inner.flatMap(([key, one]) => pathsIn(one, [...at, key]))]
}

const valueAt = (value: unknown, at: ValuePath): unknown =>
  at.reduce<unknown>((inside, key) => (inside as Record<string | number, unknown>)[key], value)

/** Changes one place of the body, unless something else that was spoiled has taken it away. */
function replace(draft: Draft, at: ValuePath, change: (value: unknown) => unknown): void {
  const visit = (value: unknown, [key, ...rest]: ValuePath): unknown => {
    if (key === undefined) return change(value)
    if (Array.isArray(value)) return value.map((inner, index) => (index === key ? visit(inner, rest) : inner))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, inner]) => [name, name === key ? visit(inner, rest) : inner])
        .filter(([, inner]) => inner !== undefined),
    )
  }
  draft.json = visit(draft.json, at)
}

const pairsOf = (value: unknown): [string, unknown][] =>
  value instanceof Pairs
    ? [...value.pairs].map(([key, inner]) => [key, inner])
    : isObject(value)
      ? Object.entries(value).map(([key, inner]) => [JSON.stringify(key), inner])
      : []
