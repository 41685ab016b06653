import {
  type Entity,
  type KnownConnector,
  type Link,
  type Meaning,
  makeVocabulary,
  type Vocabulary,
  wordsOf,
} from './vocabulary.ts'

/** Reads sentences such as `shopify orders to bigquery`, by a table of words. */

type Part = {
  /** The words as they were typed, and their place in the sentence. */
  readonly text: string
  readonly start: number
  readonly end: number
}
/** Where the words are: before `to`, after `from`, after `to`, or in a sentence without these words. */
export type Place = 'source' | 'destination' | 'open'
/** Words that name a connector. */
export type ConnectorPart = Part & {
  readonly as: 'connector'
  readonly place: Place
  readonly ids: readonly string[]
  readonly named: readonly string[]
}
export type SentencePart =
  | ConnectorPart
  | (Part & { readonly as: 'entity'; readonly entity: Entity })
  | (Part & { readonly as: 'link'; readonly link: Link })
  | (Part & { readonly as: 'unknown' })

/** A sentence as far as it is understood: its parts in their order, without words that say nothing. */
export type Sentence = { readonly text: string; readonly parts: readonly SentencePart[] }

/** Makes the reader of sentences about a catalogue. */
export function makeReader(connectors: readonly KnownConnector[]): (text: string) => Sentence {
  const vocabulary = makeVocabulary(connectors)
  return (text) => ({ text, parts: placed(merged(readParts(text, vocabulary))) })
}

type ReadPart = SentencePart | (Part & { readonly as: 'filler' })

/** Reads the longest phrases first, each with at most one wrong letter. */
function readParts(text: string, vocabulary: Vocabulary): ReadPart[] {
  const words = wordsOf(text)
  const parts: (ReadPart | undefined)[] = words.map(() => undefined)
  const taken = new Set<number>()
  const read = (find: (phrase: readonly string[]) => Meaning | undefined, length: number) => {
    for (let from = 0; from + length <= words.length; from++) {
      const phrase = words.slice(from, from + length)
      if (phrase.some((_, i) => taken.has(from + i))) continue
      const meaning = find(phrase.map(({ word }) => word))
      if (!meaning) continue
      const start = phrase[0]?.start ?? 0
      const end = phrase.at(-1)?.end ?? start
      const part = { text: text.slice(start, end), start, end }
      parts[from] = meaning.as === 'connector' ? { ...part, ...meaning, place: 'open' } : { ...part, ...meaning }
      for (const [i] of phrase.entries()) taken.add(from + i)
    }
  }
  const exact = (phrase: readonly string[]) => vocabulary.exact(phrase.join(''))
  // A phrase that begins or ends with `to` is not the misspelt name of a connector.
  const isEdge = (word: string | undefined) => vocabulary.exact(word ?? '')?.as === 'link'
  const nearly = (phrase: readonly string[]) =>
    isEdge(phrase[0]) || isEdge(phrase.at(-1)) ? undefined : vocabulary.nearly(phrase.join(''))
  for (let length = Math.min(vocabulary.wordsMax, words.length); length > 1; length--) {
    read(exact, length)
    read(nearly, length)
  }
  read(exact, 1)
  read(nearly, 1)
  return words.flatMap(({ start, end }, i) => {
    const part = parts[i]
    if (part) return [part]
    return taken.has(i) ? [] : [{ as: 'unknown' as const, text: text.slice(start, end), start, end }]
  })
}

/** Two names next to each other are one, if a connector has both: `google` and `customer match`. */
function merged(parts: readonly ReadPart[]): SentencePart[] {
  const result: SentencePart[] = []
  for (const part of parts) {
    if (part.as === 'filler') continue
    const last = result.at(-1)
    if (part.as === 'connector' && last?.as === 'connector') {
      const ids = part.ids.filter((id) => last.ids.includes(id))
      if (ids.length > 0) {
        const named = ids.filter((id) => part.named.includes(id) && last.named.includes(id))
        result[result.length - 1] = { ...last, ids, named, text: `${last.text} ${part.text}`, end: part.end }
        continue
      }
    }
    result.push(part)
  }
  return result
}

/** Says which connector is on which side. */
function placed(parts: readonly SentencePart[]): SentencePart[] {
  const links = parts.flatMap((part) => (part.as === 'link' ? [part.link] : []))
  const hasTo = links.includes('to')
  const hasFrom = links.includes('from')
  let place: Place = hasTo && !hasFrom ? 'source' : hasFrom && !hasTo ? 'destination' : 'open'
  return parts.map((part) => {
    if (part.as === 'link' && part.link === 'to') place = 'destination'
    if (part.as === 'link' && part.link === 'from') place = 'source'
    return part.as === 'connector' ? { ...part, place } : part
  })
}

/** The sentence with other words in place of a part. */
export const replacePart = ({ text }: Sentence, { start, end }: Part, words: string): string =>
  `${text.slice(0, start)}${words}${text.slice(end)}`

/** The sentence with a source in front of what it says. */
export function withSource({ text, parts }: Sentence, name: string): string {
  const link = parts.find((part) => part.as === 'link' && part.link !== 'and')
  return link?.as === 'link' && link.link === 'to' ? `${name} ${text.trim()}` : `${name} to ${text.trim()}`
}
