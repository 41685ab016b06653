import { type Guide, guideSlugs, readGuide } from './guide-files.ts'
import { type Section, sectionsOf } from './markdown.ts'

/** The search in the guides. They are few: every section is looked at, without an index. */

/** Characters of a search. */
export const searchLengthMax = 100
const wordsMax = 8
const shownMax = 30
/** Characters of a section that are shown around the first word that was found. */
const excerptLength = 240
const excerptLead = 60
/** A word in a heading weighs as much as this number of words in the text. */
const headingWeight = 10

export type FoundSection = {
  readonly guide: Guide
  readonly section: Section
  /** A part of its text, in pieces. */
  readonly excerpt: readonly { readonly text: string; readonly isFound: boolean }[]
}

let indexed: readonly { readonly guide: Guide; readonly section: Section }[] | undefined

/** Sections that have every word of a search in heading or text, in any letter case, the best first. */
export function searchGuides(search: string): FoundSection[] {
  const words = search.slice(0, searchLengthMax).toLowerCase().split(/\s+/).filter(Boolean).slice(0, wordsMax)
  if (words.length === 0) return []
  indexed ??= guideSlugs()
    .map(readGuide)
    .flatMap((guide) => sectionsOf(guide.text).map((section) => ({ guide, section })))
  return indexed
    .map((place) => ({ ...place, score: scoreOf(place.section, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, shownMax)
    .map(({ guide, section }) => ({ guide, section, excerpt: excerptOf(section.text, words) }))
}

/** How often the words occur. 0 if a word is missing. */
function scoreOf({ title, text }: Section, words: readonly string[]): number {
  const heading = title.toLowerCase()
  const body = text.toLowerCase()
  const counts = words.map((word) => headingWeight * Number(heading.includes(word)) + body.split(word).length - 1)
  return counts.includes(0) ? 0 : counts.reduce((sum, count) => sum + Math.min(count, headingWeight), 0)
}

function excerptOf(text: string, words: readonly string[]): FoundSection['excerpt'] {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const from = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - excerptLead)
  const shown = `${from > 0 ? '…' : ''}${text.slice(from, from + excerptLength)}${from + excerptLength < text.length ? '…' : ''}`
  const pattern = new RegExp(`(${words.map(RegExp.escape).join('|')})`, 'giu')
  return shown
    .split(pattern)
    .filter((piece) => piece !== '')
    .map((piece) => ({ text: piece, isFound: words.includes(piece.toLowerCase()) }))
}
