/// <reference path="./libraries.d.ts" />
import sax from 'sax'
import { bounds } from '../bounds.ts'
import { WorkbookDamage } from './damage.ts'

/** A start tag without its namespace, and its attributes as they are written. */
export type OpenTag = { readonly name: string; readonly attributes: Readonly<Record<string, string>> }

/** Takes what XML has, in its order. Names are without namespaces. */
export type XmlHandler = {
  open(tag: OpenTag): void
  close(name: string): void
  text(text: string): void
}

/** How much is parsed before the rows of it are taken. */
const stepChars = 64 << 10

/**
 * Reads XML piece by piece, and gives way after each step. Memory is bounded by the longest tag or text: a document type,
 * which could define texts that grow without bound, is refused, and so are elements that are nested too deep.
 * @throws `WorkbookDamage` if it is not well-formed XML in UTF-8, and what the handler throws
 */
export async function* readXml(source: AsyncIterable<Uint8Array>, handler: XmlHandler): AsyncGenerator<void> {
  const parser = sax.parser(true, { position: false })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let depth = 0
  let sinceTag = 0
  parser.onerror = (error) => {
    throw new WorkbookDamage(error.message.split('\n', 1)[0])
  }
  parser.ondoctype = () => {
    throw new WorkbookDamage('a document type')
  }
  parser.onopentag = ({ name, attributes }) => {
    sinceTag = 0
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

/** Whether an attribute of XML says yes. */
export const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true' || value === 'on'
