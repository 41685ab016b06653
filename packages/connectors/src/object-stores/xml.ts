import { ConnectorError } from '@penstock/connector'
import { XMLParser } from 'fast-xml-parser'
import { listingBounds } from './listing.ts'

/** Part of a document: its text if it has no elements. Elements whose name can occur more than once are a list. */
export type XmlNode = string | { readonly [name: string]: XmlNode | readonly XmlNode[] }

/** Elements that occur more than once in the listings of S3 and Azure. */
const repeated = new Set(['Contents', 'CommonPrefixes', 'Blob', 'BlobPrefix', 'Upload'])

/** Limits of a document. A page of 1,000 names needs a third of these. Parsing them all takes less than a second. */
const bounds = {
  bytes: listingBounds.pageBytes,
  tags: 150_000,
  /** Bytes in a tag, and in all of them. */
  tagBytes: 4 << 10,
  allTagBytes: 2 << 20,
  depth: 20,
} as const

const parser = new XMLParser({
  maxNestedTags: bounds.depth,
  // Names can begin with spaces and look like numbers. They must not change.
  trimValues: false,
  parseTagValue: false,
  htmlEntities: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  isArray: (name) => repeated.has(name),
})

/**
 * Reads an XML document. Throws `retry` if the text is not XML, such as the response of a proxy, and
 * `response_too_large` if it is larger than any document of a store. Expands only the predefined entities of XML.
 */
export function readXml(text: string, store: string): XmlNode {
  assertInBounds(text, store)
  try {
    return parser.parse(text) as XmlNode
  } catch (error) {
    throw new ConnectorError('malformed_response', `${store} answered with something other than XML.`, { cause: error })
  }
}

function assertInBounds(text: string, store: string): void {
  const refuse = (what: string) =>
    new ConnectorError('response_too_large', `${store} answered with XML that has ${what}. Check the endpoint.`)
  if (text.length > bounds.bytes) throw refuse(`more than ${bounds.bytes} characters`)
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) {
    throw new ConnectorError(
      'malformed_response',
      `${store} answered with a page or a document type, and no plain XML.`,
    )
  }
  let tags = 0
  let tagBytes = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    const end = text.indexOf('>', at)
    const bytes = (end < 0 ? text.length : end) - at
    tags += 1
    tagBytes += bytes
    if (tags > bounds.tags) throw refuse(`more than ${bounds.tags} tags`)
    if (bytes > bounds.tagBytes) throw refuse(`a tag of more than ${bounds.tagBytes} characters`)
    if (tagBytes > bounds.allTagBytes) throw refuse(`tags of more than ${bounds.allTagBytes} characters in total`)
  }
}

/** The element of a path, the first one if there are several. `undefined` if it does not exist. */
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

/** The text of the element of a path. Empty if it does not exist. */
export function textAt(node: XmlNode | undefined, ...path: readonly string[]): string {
  const found = element(node, ...path)
  if (typeof found === 'object') return typeof found['#text'] === 'string' ? found['#text'] : ''
  return found ?? ''
}

/** The number in the text of an element. NaN if it does not exist. */
export function numberAt(node: XmlNode | undefined, ...path: readonly string[]): number {
  const text = textAt(node, ...path).trim()
  return /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
}

/** A text as the content of an element. */
export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
