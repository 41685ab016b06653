/// <reference path="./libraries.d.ts" />
import sax, { type SaxParser } from 'sax'
import { bounds } from '../bounds.ts'
import { WorkbookDamage } from './damage.ts'

/** A start tag without its namespace, and its attributes as they are written. */
export type OpenTag = { readonly name: string; readonly attributes: Readonly<Record<string, string>> }

/** Receives the content of XML in order. Names have no namespaces. */
export type XmlHandler = {
  open(tag: OpenTag): void
  close(name: string): void
  text(text: string): void
}

/** The text that a parser collects character by character, so that each character needs up to 32 bytes of memory. */
const collected = [
  'tagName',
  'attribName',
  'attribValue',
  'entity',
  'comment',
  'sgmlDecl',
  'doctype',
  'procInstName',
  'procInstBody',
] as const satisfies readonly (keyof SaxParser)[]

/** How much is parsed before its rows are consumed. */
const stepChars = 64 << 10

/**
 * Reads XML piece by piece, and yields after each step. Memory is limited by the longest tag or text. A document type is refused,
 * because it could define texts that grow without limit. Elements that are nested too deep are refused, too.
 * @throws `WorkbookDamage` if it is not well-formed XML in UTF-8, and the errors of the handler
 */
export async function* readXml(source: AsyncIterable<Uint8Array>, handler: XmlHandler): AsyncGenerator<void> {
  const parser = sax.parser(true, { position: false })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let depth = 0
  let sinceTag = 0
  let attributeCount = 0
  parser.onerror = (error) => {
    throw new WorkbookDamage(error.message.split('\n', 1)[0])
  }
  parser.ondoctype = () => {
    throw new WorkbookDamage('a document type')
  }
  parser.onattribute = () => {
    attributeCount += 1
    if (attributeCount > bounds.xml.attributes) throw new WorkbookDamage('a tag with too many attributes')
  }
  parser.onopentag = ({ name, attributes }) => {
    sinceTag = 0
    attributeCount = 0
    depth += 1
    if (depth > bounds.nestingLevels) throw new WorkbookDamage('elements that are nested too deep')
    handler.open({ name: localName(name), attributes })
  }
  parser.onclosetag = (name) => {
    sinceTag = 0
    depth -= 1
    handler.close(localName(name))
  }
  parser.ontext = parser.oncdata = (text) => handler.text(text)
  for await (const bytes of source) {
    const text = decoded(decoder, bytes)
    for (let at = 0; at < text.length; at += stepChars) {
      const step = text.length <= stepChars ? text : text.slice(at, at + stepChars)
      sinceTag += step.length
      if (sinceTag > bounds.rowBytes) throw new WorkbookDamage('a text or tag without an end')
      parser.write(step)
      for (const key of collected)
        if (String(parser[key]).length > bounds.xml.tagChars) throw new WorkbookDamage(`a tag that is too long: ${key}`)
      yield
    }
  }
  decoded(decoder)
  parser.close()
  if (depth !== 0) throw new WorkbookDamage('an element without an end')
  yield
}

function decoded(decoder: InstanceType<typeof TextDecoder>, bytes?: Uint8Array): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
  } catch {
    throw new WorkbookDamage('bytes that are not UTF-8')
  }
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** The value of an attribute by its name without the namespace. */
export function attributeOf({ attributes }: OpenTag, name: string): string | undefined {
  for (const key in attributes) if (localName(key) === name) return attributes[key]
  return undefined
}

/** Whether an attribute of XML is true. */
export const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true' || value === 'on'
