import { ExpressionError, evaluate, namesIn, textOfJson } from '@penstock/expressions/json'
import { formOfStrftime } from '@penstock/expressions/times'
import { TranslationError } from './translation-error.ts'

/** The translation of a name with the keys behind it; `undefined` if it has none. Throws {@link TranslationError}. */
export type Naming = (root: string, keys: readonly (string | number)[]) => Translated | undefined

/** An expression of ours. */
export type Translated = {
  readonly text: string
  /** A time, or a duration of ISO 8601; anything else if absent. */
  readonly kind?: 'time' | 'duration'
  /** Whether it is a text already, so that it can be joined to others. */
  readonly isText?: boolean
}

/** The value of an expression that names nothing and asks for no time; `undefined` if it does. */
export function constantOf({ text }: Translated): { readonly value: unknown } | undefined {
  if (/\bnow\(/.test(text)) return undefined
  try {
    return namesIn(text).length > 0 ? undefined : { value: evaluate(text, {}, 0) }
  } catch (error) {
    if (error instanceof ExpressionError) throw new TranslationError(`The expression ${error.message}.`)
    throw error
  }
}

/** A value as an expression. */
export const literal = (value: unknown): Translated => ({
  text: JSON.stringify(value ?? null),
  ...(typeof value === 'string' && { isText: true }),
})

/** Throws {@link TranslationError}. */
export const wrong = (message: string): never => {
  throw new TranslationError(message)
}

const reserved =
  /^(as|break|const|continue|else|false|for|function|if|import|in|let|loop|package|namespace|null|return|true|var|void|while)$/

/** A value below another one. */
export function accessTo(of: Translated, key: Translated): Translated {
  const value = constantOf(key)?.value
  const isName = typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value) && !reserved.test(value)
  return folded({ text: isName ? `${of.text}.${value}` : `${of.text}[${key.text}]` })
}

/** A time in a format of `strftime`. */
export function formatted(time: Translated, format: Translated): Translated {
  const given = constantOf(format)?.value
  if (typeof given !== 'string') return wrong('A format that is calculated cannot be carried.')
  if (given === '%s') return folded({ text: `string(seconds(${time.text}))`, isText: true })
  if (given === '%ms' || given === '%epoch_microseconds') {
    if (given === '%ms') return folded({ text: `string(milliseconds(${time.text}))`, isText: true })
  }
  const form = formOfStrftime(given)
  if (form === undefined) return wrong(`The format ${given} cannot be carried.`)
  return folded({ text: `formatTime(${time.text}, ${JSON.stringify(form)})`, isText: true })
}

/** An expression whose value is known is that value. */
export function folded(of: Translated): Translated {
  const constant = constantOf(of)
  if (!constant) return of
  if (typeof constant.value === 'object' && constant.value !== null && textOfJson(constant.value).length > 1_000)
    return of
  return { ...literal(constant.value), ...(of.kind && { kind: of.kind }) }
}

export const foldedWithin = (of: Translated): Translated =>
  of.kind === 'time'
    ? {
        ...of,
        text: of.text.replace(
          /replace\(("P" \+ string\([^()]*\) \+ "D"), "P-", "-P"\)/,
          (whole) => folded({ text: whole }).text,
        ),
      }
    : folded(of)

export function stripped(text: string, characters: string, atEnd: boolean): string {
  let [from, until] = [0, text.length]
  while (!atEnd && from < until && characters.includes(text[from] as string)) from++
  while (atEnd && until > from && characters.includes(text[until - 1] as string)) until--
  return text.slice(from, until)
}
