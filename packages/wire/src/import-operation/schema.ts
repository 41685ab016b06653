import {
  type ImportedDocument,
  ImportRefused,
  isProperties,
  own,
  type Place,
  type Placed,
  type Properties,
} from './document.ts'

/** JSON Schema as columns of an operation, and as the JSON of a row with a template for each column. */

/** A column as a definition has it: its type, or an object with more. */
export type ImportedColumn = Properties & { readonly type: string }

export type ImportedRow = {
  readonly columns: Readonly<Record<string, ImportedColumn>>
  /** The JSON of a row: objects with `{{ row.name }}` for values. */
  readonly row: unknown
}

const columnsMax = 500
/** Objects in objects whose values become columns. Deeper objects are one column. */
const nestedMax = 4
/** Parts of `allOf` in each other. */
const mergedMax = 20
const enumMax = 500
const nameLengthMax = 100
/** Words that expressions do not have as names. */
const reserved = new Set(
  'as break const continue else false for function if import in let loop namespace null package return true var void while'.split(
    ' ',
  ),
)

/** A schema with the keywords of all parts of `allOf`, and of the first alternative of `oneOf` or `anyOf`. */
export function schemaAt(document: ImportedDocument, given: unknown, place: Place, depth = 0): Placed {
  // `true` and `{}` accept any value.
  if (given === true) return { value: {}, place }
  const at = document.object(given, place)
  if (depth > mergedMax) throw new ImportRefused('allOf, oneOf and anyOf are nested too deeply.', place)
  const parts = ['allOf', 'oneOf', 'anyOf'].flatMap((keyword) => {
    const list = own(at.value, keyword)
    if (list === undefined) return []
    if (!Array.isArray(list)) throw new ImportRefused(`${keyword} must be a list.`, [...at.place, keyword])
    const all = list.map((one: unknown, index) => [one, [...at.place, keyword, index]] as const)
    const useful =
      keyword === 'allOf' ? all : all.filter(([one]) => !(isProperties(one) && own(one, 'type') === 'null')).slice(0, 1)
    return useful.map(([one, where]) => schemaAt(document, one, where, depth + 1))
  })
  const properties = new Map<string, unknown>()
  const required: unknown[] = []
  for (const { value } of [...parts, at]) {
    const some = own(value, 'properties')
    for (const [key, one] of isProperties(some) ? Object.entries(some) : []) properties.set(key, one)
    const names = own(value, 'required')
    if (Array.isArray(names)) required.push(...names)
  }
  const merged: Record<string, unknown> = {}
  for (const { value } of [...parts, at]) {
    for (const [key, one] of Object.entries(value)) if (key !== '__proto__') merged[key] = one
  }
  return {
    value: {
      ...merged,
      ...(properties.size > 0 && { properties: Object.fromEntries(properties) }),
      ...(required.length > 0 && { required }),
    },
    place: at.place,
  }
}

/** The type of a schema without null, also of a schema that leaves it out. */
export function typeOf({ value }: Placed): string | undefined {
  const type = [own(value, 'type')].flat().find((one) => one !== 'null' && one !== undefined)
  if (typeof type === 'string') return type
  if (isProperties(own(value, 'properties'))) return 'object'
  return own(value, 'items') === undefined ? undefined : 'array'
}

/** Whether a schema is an object whose properties are known. */
export const hasProperties = (schema: Placed): boolean =>
  typeOf(schema) === 'object' && Object.keys(propertiesOf(schema)).length > 0

export function propertiesOf({ value }: Placed): Properties {
  const properties = own(value, 'properties')
  return isProperties(properties) ? properties : {}
}

export function requiredOf({ value }: Placed): ReadonlySet<string> {
  const required = own(value, 'required')
  return new Set(Array.isArray(required) ? required.filter((one) => typeof one === 'string') : [])
}

/** Collects the columns of a row. */
export class ColumnCollector {
  readonly columns: Record<string, ImportedColumn> = {}
  readonly notes: string[]
  readonly #document: ImportedDocument
  readonly #names = new Set<string>()

  constructor(document: ImportedDocument, notes: string[]) {
    this.#document = document
    this.notes = notes
  }

  /** Adds a column. Returns the template of its value. Throws `ImportRefused` if there are too many. */
  add(wanted: string, column: ImportedColumn, place: Place): string {
    const cleaned =
      wanted
        .replace(/[^A-Za-z0-9_-]+/g, '_')
        .replace(/^[^A-Za-z_]/, '_$&')
        .slice(0, nameLengthMax) || '_'
    const free =
      cleaned in Object.prototype || this.#names.has(cleaned) ? `${cleaned.slice(0, nameLengthMax - 5)}_` : cleaned
    let name = free
    for (let number = 2; this.#names.has(name); number++) name = `${free}${number}`
    if (this.#names.size >= columnsMax)
      throw new ImportRefused(`A row would have more than ${columnsMax} columns.`, place)
    this.#names.add(name)
    this.columns[name] = column
    const isPlain = /^[A-Za-z_]\w*$/.test(name) && !reserved.has(name)
    return `{{ row${isPlain ? `.${name}` : `[${JSON.stringify(name)}]`} }}`
  }

  /**
   * The JSON of an object with a template for each value.
   * @param above places of the objects around it, so that a schema that contains itself ends
   */
  object(schema: Placed, isRequired: boolean, prefix = '', above: readonly Place[] = []): unknown {
    const required = requiredOf(schema)
    const inside = [...above, schema.place]
    const entries = Object.entries(propertiesOf(schema)).flatMap(([key, given]): [string, unknown][] => {
      const place = [...schema.place, 'properties', key]
      if (given === false) return []
      // Definitions give this key another meaning.
      if (key === '...' || key === '__proto__') {
        this.notes.push(`${prefix === '' ? key : `${prefix}.${key}`} cannot be sent: it is left out.`)
        return []
      }
      const property = schemaAt(this.#document, given, place)
      if (own(property.value, 'readOnly') === true) return []
      const fixed = own(property.value, 'const')
      if (fixed !== undefined && typeof fixed !== 'object')
        return [[key, typeof fixed === 'string' ? literal(fixed) : fixed]]
      const needed = isRequired && required.has(key)
      const name = prefix === '' ? key : `${prefix}_${key}`
      const repeats = inside.some((one) => one.join('/') === property.place.join('/'))
      if (repeats) this.notes.push(`${name} contains itself: it is one column with JSON.`)
      const nests = hasProperties(property) && !repeats && inside.length <= nestedMax
      if (nests) return [[key, this.object(property, needed, name, inside)]]
      return [[key, this.add(name, this.#columnOf(property, needed, name), place)]]
    })
    return Object.fromEntries(entries)
  }

  #columnOf(schema: Placed, required: boolean, name: string): ImportedColumn {
    const { value } = schema
    const description = own(value, 'description')
    const text = typeof description === 'string' ? description.trim().split(/\s*\n/, 1)[0]?.slice(0, 200) : ''
    return { ...this.#typed(schema, name), ...(text && { description: text }), ...(required && { required }) }
  }

  #typed(schema: Placed, name: string): ImportedColumn {
    const { value } = schema
    const type = typeOf(schema)
    const options = own(value, 'enum')
    if (Array.isArray(options) && (type === 'string' || type === undefined)) {
      const values = [...new Set(options.filter((one) => typeof one === 'string' && one !== '' && one.length <= 200))]
      if (values.length > 0 && options.length <= enumMax) return { type: 'one of', values }
      this.notes.push(`${name} has ${options.length} values, which cannot be listed: it is a text.`)
    }
    if (type === 'integer') return { type: 'whole number' }
    if (type === 'number') return { type: 'number' }
    if (type === 'boolean') return { type: 'yes or no' }
    if (type === 'array') return { type: this.#listType(schema, name) }
    if (type === 'object') return { type: 'object' }
    if (type === undefined) this.notes.push(`${name} has no type: it is a text.`)
    const lengthMax = own(value, 'maxLength')
    if (own(value, 'format') === 'date-time') return { type: 'moment' }
    const isLimited = Number.isSafeInteger(lengthMax) && Number(lengthMax) >= 1 && Number(lengthMax) <= 1_000_000
    return { type: 'text', ...(isLimited && { lengthMax }) }
  }

  #listType(schema: Placed, name: string): string {
    const items = own(schema.value, 'items')
    if (items === undefined || typeof items === 'boolean') return 'list'
    const item = typeOf(schemaAt(this.#document, items, [...schema.place, 'items']))
    if (item === 'object') return 'objects'
    if (item !== 'string' && item !== undefined)
      this.notes.push(`${name} is a list of ${item}: its values are sent as texts.`)
    return 'list'
  }
}

/** A text that is not a template. */
export const literal = (text: string): string =>
  text.includes('{{') || text.includes('}}') ? `{{ ${JSON.stringify(text)} }}` : text
