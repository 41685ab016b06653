import { Outcome } from '@penstock/connector'
import { XMLParser } from 'fast-xml-parser'

/** Part of a document: its text where it has no elements; elements of a name that can occur more than once are a list. */
export type XmlNode = string | { readonly [name: string]: XmlNode | readonly XmlNode[] }

/** What stands more than once in the listings that S3 and Azure give. */
const repeated = new Set(['Contents', 'CommonPrefixes', 'Blob', 'BlobPrefix', 'Upload'])

const parser = new XMLParser({
  // Names may begin with spaces and look like numbers, and are kept as they are.
  trimValues: false,
  parseTagValue: false,
  htmlEntities: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  isArray: (name) => repeated.has(name),
})

/** Reads an XML document; throws `retry` where it is none, which happens where an answer of something in between came. */
export function readXml(text: string, store: string): XmlNode {
  try {
    return parser.parse(text) as XmlNode
  } catch (error) {
    throw new Outcome('retry', 'strange_answer', `${store} answered with what is no XML.`, { cause: error })
  }
}

/** The element of a path, `undefined` where there is none; the first of several. */
export function element(node: XmlNode | undefined, ...path: readonly string[]): XmlNode | undefined {
  let found = node
  for (const name of path) {
    if (typeof found !== 'object') return undefined
    const next = found[name]
    found = (Array.isArray(next) ? next[0] : next) as XmlNode | undefined
  }
  return found
}

/** All elements of a repeated name. */
export function elements(node: XmlNode | undefined, name: string): readonly XmlNode[] {
  const found = typeof node === 'object' ? node[name] : undefined
  return Array.isArray(found) ? found : found === undefined ? [] : [found as XmlNode]
}

/** The text of the element of a path; empty where there is none. */
export function textAt(node: XmlNode | undefined, ...path: readonly string[]): string {
  const found = element(node, ...path)
  if (typeof found === 'object') return typeof found['#text'] === 'string' ? found['#text'] : ''
  return found ?? ''
}

/** A text as the content of an element. */
export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
