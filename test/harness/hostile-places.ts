import { limits, type TSchema } from '@penstock/wire'
import { hostileTexts } from './hostile-texts.ts'
import { Raw } from './spoilings.ts'

/** Keys and indexes that lead to a value of a body. */
export type PlaceInBody = readonly (string | number)[]
/** A value for a place, made when it is needed: some are as large as a body can be. */
export type HostileValue = { readonly kind: string; readonly make: () => unknown }
/** A place of a request that accepts what a tenant chooses, and the values to put there. */
export type HostilePlace = { readonly at: PlaceInBody; readonly values: readonly HostileValue[] }

type Node = {
  readonly type?: string
  readonly anyOf?: readonly Node[]
  readonly items?: Node
  readonly maxItems?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, Node>>
  readonly patternProperties?: Readonly<Record<string, Node>>
}

/** Bytes of a value that fills a body, next to what else is in it. */
const fillingBytes = limits.bodyBytesMax - 40_000
/** Levels of a value that is nested. */
const levels = 80_000

/** Every place below a schema: texts, lists and objects, and the entries of objects that accept any key. */
export function placesIn(schema: TSchema, at: PlaceInBody = []): HostilePlace[] {
  const { type, anyOf = [], items = {}, maxItems, maxLength, properties = {}, patternProperties = {} } = schema as Node
  const inside = (one: Node, ...more: PlaceInBody) => placesIn(one as TSchema, [...at, ...more])
  const found = anyOf.flatMap((one) => inside(one))
  if (type === 'string') {
    const allowed = maxLength === undefined ? [] : textsOf(maxLength)
    found.push({ at, values: [...allowed, ...(maxLength === undefined ? textsOf() : someOf(textsOf(), at))] })
  }
  if (type === 'array') found.push(...inside(items, 0), { at, values: someOf(listsOf(items, maxItems), at) })
  if (type === 'object') {
    const open = Object.values(patternProperties).flatMap((one) => inside(one, 'a'))
    const own = Object.entries(properties).flatMap(([key, one]) => inside(one, key))
    found.push(...own, ...open, { at, values: objects })
  }
  return found
}

/**
 * Every eighth value, beginning with a different one at each place. Values that are too long are refused in the same way
 * everywhere.
 */
const someOf = (values: readonly HostileValue[], at: PlaceInBody): HostileValue[] =>
  values.filter((_, index) => (index + at.join('.').length) % 8 === 0)

/** Every hostile text with a number of units, or as long as a body can be. */
export const textsOf = (units?: number): HostileValue[] =>
  Object.entries(hostileTexts).map(([kind, make]) => ({
    kind: `${kind}, ${units === undefined ? 'as long as a body' : `${units} units`}`,
    make: () => make(Math.min(units ?? Number.POSITIVE_INFINITY, unitsThatFit(make))),
  }))

/** Units of a text of a kind that a body can hold. */
function unitsThatFit(make: (units: number) => string): number {
  const tried = 2_000
  return Math.floor((fillingBytes / Buffer.byteLength(JSON.stringify(make(tried)))) * tried)
}

/** Lists with as many entries as the schema or a body allows. All entries differ. */
const listsOf = ({ maxLength = 12 }: Node, maxItems = 60_000): HostileValue[] => [
  ...[...new Set([Math.min(maxItems, 60_000), 60_000])].flatMap((count) =>
    Object.entries(hostileTexts).map(([kind, make]) => ({
      kind: `${count} times ${kind}`,
      make: () => {
        const text = make(Math.min(maxLength, Math.floor(unitsThatFit(make) / count)))
        return Array.from({ length: count }, (_, n) => text.slice(0, -4) + n.toString(36))
      },
    })),
  ),
  { kind: 'a list of lists', make: () => new Raw('['.repeat(levels) + ']'.repeat(levels)) },
]

const objects: readonly HostileValue[] = [
  {
    kind: 'many keys',
    make: () => Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [n.toString(36), 1])),
  },
  { kind: 'a long key', make: () => ({ [`a${'\u0315\u0300'.repeat(200_000)}`]: 'a' }) },
  { kind: 'objects in objects', make: () => new Raw(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) },
]

/** A copy of a value with another value at a place. Missing parents are created. */
export function withValueAt(value: unknown, [key, ...rest]: PlaceInBody, put: unknown): unknown {
  if (key === undefined) return put
  if (typeof key === 'number') {
    const list = Array.isArray(value) ? [...value] : []
    list[key] = withValueAt(list[key], rest, put)
    return list
  }
  const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  return { ...object, [key]: withValueAt(object[key], rest, put) }
}
