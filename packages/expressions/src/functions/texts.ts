import { createHash, createHmac } from 'node:crypto'
import {
  checkLength,
  ExpressionError,
  evaluationNow,
  expressionLimits,
  isEmpty,
  isObject,
  made,
  spend,
} from '../values.ts'
import type { Functions, Run } from './function.ts'

/** A text that is computed from a text. */
const ofText =
  (run: (text: string) => string): Run =>
  ([text], site) =>
    made(run(text as string), site)

/** A text that is computed from the bytes of a text. */
const ofBytes =
  (run: (text: string) => string): Run =>
  ([text], site) =>
    run(made(text as string, site))

const test =
  (run: (text: string, part: string) => boolean): Run =>
  ([text, part], site) => {
    spend(1 + ((text as string).length >> 6), site)
    return run(text as string, part as string)
  }

const placesMax = expressionLimits.steps / 10

/** The functions of texts, and of lists of texts. */
export const textFunctions: Functions = {
  lower: ofText((text) => text.toLowerCase()),
  upper: ofText((text) => text.toUpperCase()),
  trim: ofText((text) => text.trim()),
  contains: test((text, part) => text.includes(part)),
  startsWith: test((text, part) => text.startsWith(part)),
  endsWith: test((text, part) => text.endsWith(part)),
  base64: ofBytes((text) => Buffer.from(text).toString('base64')),
  md5: ofBytes((text) => createHash('md5').update(text).digest('hex')),
  sha256: ofBytes((text) => createHash('sha256').update(text).digest('hex')),
  hmac: ([text], site) => {
    if (text === '') return null
    spend(16 + ((text as string).length >> 4), site)
    const mac = createHmac('sha256', evaluationNow().hashKey ?? '')
    return mac.update(text as string).digest('hex')
  },
  replace: (args, site) => {
    const [text, from, to] = args as readonly [string, string, string]
    if (!text || !from) return text
    const parts = text.split(from, placesMax)
    if (parts.length === placesMax) throw new ExpressionError('has too many places to replace', site)
    checkLength(text.length + (parts.length - 1) * (to.length - from.length), site)
    spend(parts.length, site)
    return made(parts.join(to), site)
  },
  substring: {
    run: ([text, from, until], site) => {
      const end = isEmpty(until) ? undefined : Math.max(0, until as number)
      return made((text as string).slice(Math.max(0, isEmpty(from) ? 0 : (from as number)), end), site)
    },
    runInDefinitions: ([text, from, until], site) =>
      made(text as string, site).slice((from ?? 0) as number, (until ?? undefined) as number | undefined),
  },
  split: {
    run: ([text, separator], site) => {
      if (text === '') return []
      const parts = (text as string).split(separator as string, expressionLimits.items + 1)
      if (parts.length > expressionLimits.items) return site.fail(`has more than ${expressionLimits.items} parts`)
      spend(parts.length + ((text as string).length >> 4), site)
      return parts
    },
    runInDefinitions: ([text, separator], site) => {
      const parts = made(text as string, site).split(separator as string, expressionLimits.items)
      spend(parts.length, site)
      return parts
    },
  },
  join: ([list, separator], site) => {
    const between = (separator ?? '') as string
    let length = 0
    const texts = (list as readonly object[]).map((item) => {
      const text = site.values.textOf(item, site)
      length += text.length + between.length
      checkLength(length, site)
      spend(1, site)
      return text
    })
    return made(texts.join(between), site)
  },
  size: ([of], site) => {
    if (Array.isArray(of)) return of.length
    if (isObject(of)) return Object.keys(of).length
    const text = site.values.textOf(of, site)
    spend(1 + (text.length >> 4), site)
    let count = 0
    for (const _ of text) count++
    return count
  },
}
