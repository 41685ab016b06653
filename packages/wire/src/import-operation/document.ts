/** A document that someone else wrote, such as OpenAPI: what it refers to, within bounds, and the place of what cannot be used. */

/** Keys and indexes that lead to a value of the document. */
export type Place = readonly (string | number)[]
export type Properties = Readonly<Record<string, unknown>>

/** A part of the document that cannot be imported. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused'
  readonly place: Place

  constructor(message: string, place: Place) {
    super(message)
    this.place = place
  }
}

/** A value with its place. */
export type Placed = { readonly value: Properties; readonly place: Place }

/** Values that an import reads. A document whose references multiply has no more. */
const readMax = 20_000
/** References that lead to each other without a value in between. */
const refsMax = 50
const pointerLengthMax = 2_000

export const isProperties = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The own value of a key: a document can have keys such as `constructor`. */
export const own = (value: Properties, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

/** Reads a document. Every method throws `ImportRefused`. */
export class ImportedDocument {
  readonly #root: unknown
  #read = 0

  constructor(root: unknown) {
    this.#root = root
  }

  /** An object at a place, or the object that it refers to. */
  object(value: unknown, place: Place): Placed {
    let at: Placed = { value: this.#objectAt(value, place), place }
    for (let refs = 0; own(at.value, '$ref') !== undefined; refs++) {
      if (refs >= refsMax) throw new ImportRefused('The reference leads back to itself.', [...place, '$ref'])
      at = this.#target(at)
    }
    return at
  }

  /** The object at a key; `undefined` without it. */
  child({ value, place }: Placed, key: string): Placed | undefined {
    const found = own(value, key)
    return found === undefined ? undefined : this.object(found, [...place, key])
  }

  #objectAt(value: unknown, place: Place): Properties {
    if (++this.#read > readMax) throw new ImportRefused(`More than ${readMax} values would be read.`, place)
    if (isProperties(value)) return value
    throw new ImportRefused('An object is expected.', place)
  }

  #target({ value, place }: Placed): Placed {
    const ref = own(value, '$ref')
    const at = [...place, '$ref']
    if (typeof ref !== 'string' || ref.length > pointerLengthMax) throw new ImportRefused('$ref must be a text.', at)
    if (ref !== '#' && !ref.startsWith('#/')) {
      const message = `$ref leads to another document (${ref.slice(0, 100)}), which is not read. Put everything into one document.`
      throw new ImportRefused(message, at)
    }
    const keys = ref.split('/').slice(1).map(unescaped)
    let found: unknown = this.#root
    for (const key of keys) {
      const next = Array.isArray(found) && /^\d{1,6}$/.test(key) ? found[Number(key)] : undefined
      found = isProperties(found) ? own(found, key) : next
      if (found === undefined) throw new ImportRefused(`The document has nothing at ${ref.slice(0, 100)}.`, at)
    }
    return { value: this.#objectAt(found, keys), place: keys }
  }
}

/** A key of a JSON pointer (RFC 6901) in a fragment. A wrong percent code stays as it is. */
function unescaped(key: string): string {
  let decoded = key
  try {
    decoded = decodeURIComponent(key)
  } catch {}
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~')
}
