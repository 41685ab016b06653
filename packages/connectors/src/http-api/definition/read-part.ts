import { didYouMean } from '@penstock/wire/rules'
import { isObject, type JsonObject } from '../../platform-api/json.ts'

/** Keys and indexes that lead to a value. */
export type Path = readonly (string | number)[]

/** The first error of a definition: a sentence, and the path of the value. */
export class WrongPart extends Error {
  readonly path: Path

  constructor(message: string, path: Path) {
    super(message)
    this.path = path
  }
}

/** The reading of one value of a definition. Throws a `WrongPart` at the first value that is wrong: only that one is shown. */
export class Part {
  readonly object: JsonObject
  readonly path: Path

  constructor(value: unknown, path: Path, keys?: readonly string[]) {
    this.path = path
    this.object = isObject(value) ? value : {}
    if (!isObject(value)) this.wrong(`${this.name} must be an object.`)
    for (const key of keys ? Object.keys(this.object) : []) {
      if (!keys || keys.includes(key)) continue
      this.wrong(`${key} is not known here.${didYouMean(key, keys) || ` Known are: ${keys.join(', ')}.`}`, key)
    }
  }

  get name(): string {
    return this.path.length === 0 ? 'The definition' : String(this.path.at(-1))
  }

  wrong(message: string, ...below: Path): never {
    throw new WrongPart(message, [...this.path, ...below])
  }

  has(key: string): boolean {
    return Object.hasOwn(this.object, key) && this.object[key] !== null
  }

  part(key: string, keys?: readonly string[]): Part | undefined {
    return this.has(key) ? new Part(this.object[key], [...this.path, key], keys) : undefined
  }

  text(key: string, form = /^\P{Cc}+$/u, what = 'a text', lengthMax = 2_000): string | undefined {
    const value = this.object[key]
    if (!this.has(key)) return undefined
    if (typeof value === 'string' && value.length <= lengthMax && form.test(value)) return value
    return this.wrong(`${key} must be ${what}.`, key)
  }

  needed(key: string, form?: RegExp, what?: string): string {
    if (!this.has(key)) this.wrong(`${this.name} needs ${key}.`)
    return this.text(key, form, what) ?? ''
  }

  flag(key: string): boolean | undefined {
    const value = this.object[key]
    if (!this.has(key) || typeof value === 'boolean') return this.has(key) ? (value as boolean) : undefined
    return this.wrong(`${key} must be true or false.`, key)
  }

  whole(key: string, min: number, max: number): number | undefined {
    const value = this.object[key]
    if (!this.has(key)) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
    return this.wrong(`${key} must be a whole number from ${min} to ${max}.`, key)
  }

  choice<Option extends string>(key: string, options: readonly Option[]): Option | undefined {
    const value = this.object[key]
    if (!this.has(key)) return undefined
    const option = options.find((one) => one === value)
    if (option !== undefined) return option
    return this.wrong(`${key} must be one of: ${options.join(', ')}.${didYouMean(String(value), options)}`, key)
  }

  list(key: string, max: number): readonly unknown[] | undefined {
    const value = this.object[key]
    if (!this.has(key)) return undefined
    if (Array.isArray(value) && value.length > 0 && value.length <= max) return value
    return this.wrong(`${key} must be a list of 1 to ${max} values.`, key)
  }

  /** Keys that lead into JSON: a text with points, or a list of keys that have points themselves. */
  keys(key: string): string[] {
    const value = this.object[key]
    if (!this.has(key)) return []
    const keys = typeof value === 'string' ? value.split('.') : value
    const fits = Array.isArray(keys) && keys.every((one) => typeof one === 'string' && one !== '') && keys.length <= 20
    if (fits) return keys
    return this.wrong(`${key} must be a path, such as data.items.`, key)
  }
}
