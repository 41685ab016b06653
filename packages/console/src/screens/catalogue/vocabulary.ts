import type { CatalogueEntry, ConnectorWords, DataTypeCategory, PlatformKind } from '@penstock/wire'

/** The words that a sentence of the catalogue can have: names of connectors, kinds of platforms, and what people move. */

/** A connector with the words for it. */
export type KnownConnector = CatalogueEntry & Omit<ConnectorWords, 'connectorId'>

/** Adds the words to the entries of the catalogue. A connector without words is known by its name. */
export function withWords(entries: readonly CatalogueEntry[], words: readonly ConnectorWords[]): KnownConnector[] {
  const byId = new Map(words.map((one) => [one.connectorId, one]))
  return entries.map((entry) => ({
    platform: entry.name,
    kind: null,
    alsoCalled: [],
    ...byId.get(entry.connectorId),
    ...entry,
  }))
}

/** Data that people move, and the categories of connectors that it suggests on each side, the most likely first. */
export type Entity = {
  readonly id: string
  readonly words: readonly string[]
  readonly from: readonly DataTypeCategory[]
  readonly to: readonly DataTypeCategory[]
}

export const entities: readonly Entity[] = [
  { id: 'orders', words: ['order', 'orders', 'sales'], from: ['data store'], to: ['data store', 'events'] },
  {
    id: 'purchases',
    words: ['purchase', 'purchases', 'conversion', 'conversions', 'capi', 'leads', 'lead'],
    from: ['data store'],
    to: ['events'],
  },
  { id: 'events', words: ['event', 'events', 'clicks'], from: ['events', 'data store'], to: ['events'] },
  {
    id: 'customers',
    words: ['customer', 'customers', 'contact', 'contacts', 'people', 'users', 'subscribers', 'members'],
    from: ['audience activation', 'data store'],
    to: ['audience activation', 'data store'],
  },
  {
    id: 'audience',
    words: ['audience', 'audiences', 'segment', 'segments', 'lookalike', 'retargeting', 'custom audience'],
    from: ['audience activation', 'data store'],
    to: ['audience activation'],
  },
  {
    id: 'reports',
    words: ['report', 'reports', 'reporting', 'spend', 'costs', 'cost', 'performance', 'insights', 'analytics'],
    from: ['reporting', 'campaign management'],
    to: ['data store'],
  },
  {
    id: 'campaigns',
    words: ['campaign', 'campaigns', 'budgets'],
    from: ['campaign management', 'reporting', 'data store'],
    to: ['data store', 'campaign management'],
  },
  { id: 'products', words: ['product', 'products', 'inventory'], from: ['data store'], to: ['data store'] },
  { id: 'companies', words: ['company', 'companies'], from: ['audience activation'], to: ['data store'] },
  { id: 'deals', words: ['deal', 'deals', 'opportunities'], from: ['audience activation'], to: ['data store'] },
  { id: 'tickets', words: ['ticket', 'tickets'], from: ['audience activation'], to: ['data store'] },
]

/** Words for all platforms of a kind. */
const kindWords: Readonly<Record<string, PlatformKind>> = {
  database: 'database',
  databases: 'database',
  db: 'database',
  warehouse: 'warehouse',
  dwh: 'warehouse',
  files: 'file store',
  tsv: 'file store',
  xlsx: 'file store',
  avro: 'file store',
  ndjson: 'file store',
}

/** Words between the others. */
const links: Readonly<Record<string, Link>> = {
  to: 'to',
  into: 'to',
  onto: 'to',
  towards: 'to',
  from: 'from',
  and: 'and',
  plus: 'and',
}
export type Link = 'to' | 'from' | 'and'

/** Words that say nothing about the route. */
const fillers = new Set(
  'a ad ads all an at by connect connection connector copy data destination every export for get import in it load look move my of on our please push put rows send source store sync table tables the them transfer up upload via want we with i'.split(
    ' ',
  ),
)
/** First and last words of names that are too common to mean one platform. */
const common = new Set(
  'ads ad advertising api data destination display dsp id my raw real search source store time manager stream file records conversion'.split(
    ' ',
  ),
)

/** The meaning of a phrase. */
export type Meaning =
  | {
      readonly as: 'connector'
      /** Identifiers of the connectors that it can mean. */
      readonly ids: readonly string[]
      /** Identifiers of connectors with exactly this name. */
      readonly named: readonly string[]
    }
  | { readonly as: 'entity'; readonly entity: Entity }
  | { readonly as: 'link'; readonly link: Link }
  | { readonly as: 'filler' }

/** A vocabulary finds the meaning of a phrase, whose words are joined without spaces. */
export type Vocabulary = {
  readonly exact: (phrase: string) => Meaning | undefined
  /** The meaning of a phrase with one letter that is wrong, missing, added or swapped; undefined if there is none. */
  readonly nearly: (phrase: string) => Meaning | undefined
  /** The most words that a phrase has. */
  readonly wordsMax: number
}

/** The words of a text in lower case, without accents, and the places where they are. Signs such as `&` and `→` are words. */
export function wordsOf(text: string): { readonly word: string; readonly start: number; readonly end: number }[] {
  return [...text.matchAll(/->|→|[&+,;]|[\p{L}\p{N}]+/gu)].map((match) => ({
    word: wordOfSign(match[0]),
    start: match.index,
    end: match.index + match[0].length,
  }))
}

const wordOfSign = (text: string): string => {
  if (text === '->' || text === '→') return 'to'
  if ('&+,;'.includes(text)) return 'and'
  return text.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '')
}

const joined = (words: readonly string[]) => words.join('')

/** All phrases by which people call a connector, as words. */
function phrasesOf({ name, platform, alsoCalled }: KnownConnector): string[][] {
  const full = wordsOf(name).map(({ word }) => word)
  const ofPlatform = wordsOf(platform).map(({ word }) => word)
  const parts = [name, platform].flatMap((text) => text.split(/\/|[()]/)).map((part) => wordsOf(part))
  const phrases = [full, ofPlatform, ...parts.map((part) => part.map(({ word }) => word))]
  for (const words of [full, ofPlatform]) {
    const [first = '', ...rest] = words
    // The brand, and the name without it: Google, and BigQuery Data Store.
    if (first !== 'the') phrases.push([first])
    phrases.push(rest)
    phrases.push(words.filter((word) => word !== 'and'))
  }
  if (full.join(' ').startsWith(`${ofPlatform.join(' ')} `)) phrases.push(full.slice(ofPlatform.length))
  const telling = phrases.filter((words) => words.length > 1 || !common.has(words[0] ?? 'a'))
  return [...telling, ...alsoCalled.map((text) => wordsOf(text).map(({ word }) => word))].filter(
    ({ length }) => length > 0,
  )
}

/** Makes the vocabulary of a catalogue. */
export function makeVocabulary(connectors: readonly KnownConnector[]): Vocabulary {
  const meanings = new Map<string, Meaning>()
  let wordsMax = 1
  const found = new Map<string, { ids: Set<string>; named: Set<string> }>()
  const add = (words: readonly string[], id: string, isName = false) => {
    wordsMax = Math.max(wordsMax, words.length)
    const of = found.get(joined(words)) ?? { ids: new Set(), named: new Set() }
    found.set(joined(words), of)
    of.ids.add(id)
    if (isName) of.named.add(id)
  }
  for (const connector of connectors) {
    for (const words of phrasesOf(connector)) add(words, connector.connectorId)
    const full = wordsOf(connector.name).map(({ word }) => word)
    add(full, connector.connectorId, true)
    for (const [word, kind] of Object.entries(kindWords)) {
      if (kind === connector.kind) add([word], connector.connectorId)
    }
  }
  for (const filler of fillers) meanings.set(filler, { as: 'filler' })
  for (const [phrase, { ids, named }] of found)
    meanings.set(phrase, { as: 'connector', ids: [...ids], named: [...named] })
  // `orders` rather means data than a connector whose name ends with it.
  for (const entity of entities) {
    for (const text of entity.words) {
      const phrase = joined(wordsOf(text).map(({ word }) => word))
      const known = meanings.get(phrase)
      if (known?.as !== 'connector' || known.named.length === 0) meanings.set(phrase, { as: 'entity', entity })
    }
  }
  for (const [word, link] of Object.entries(links)) meanings.set(word, { as: 'link', link })
  const phrases = [...meanings.keys()].filter((phrase) => phrase.length >= lettersMin)
  return {
    exact: (phrase) => meanings.get(phrase),
    nearly: (phrase) => {
      if (phrase.length < lettersMin) return undefined
      const near = phrases.filter((known) => isOneEdit(known, phrase)).map((known) => meanings.get(known))
      const ofConnectors = near.filter((one) => one?.as === 'connector')
      if (ofConnectors.length === 0) return near.find((one) => one?.as === 'entity')
      return {
        as: 'connector',
        ids: [...new Set(ofConnectors.flatMap(({ ids }) => ids))],
        named: [...new Set(ofConnectors.flatMap(({ named }) => named))],
      }
    },
    wordsMax,
  }
}

/** Shorter words are not corrected: too many of them are one letter apart. */
const lettersMin = 4

/** Whether two texts differ by one letter that is wrong, missing or added, or by two neighbours that are swapped. */
export function isOneEdit(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (long.length - short.length > 1 || short === long) return false
  let at = 0
  while (at < short.length && short[at] === long[at]) at++
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1)
  const isSwap = short[at] === long[at + 1] && short[at + 1] === long[at]
  return short.slice(at + 1) === long.slice(at + 1) || (isSwap && short.slice(at + 2) === long.slice(at + 2))
}
