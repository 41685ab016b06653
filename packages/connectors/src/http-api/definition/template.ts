import { evaluate, isEmpty, type Scope, textOfJson } from '@penstock/expressions/json'

/** Values of the names in templates, such as `cursor` and `partition`, and the time of `now()` in milliseconds since 1970. */
export type TemplateValues = Scope & { readonly nowMs?: number }

/** A template in parts: texts, and the expressions between braces. */
type TemplatePart = { readonly text: string } | { readonly expression: string }

const parts = new Map<string, readonly TemplatePart[]>()
const partsMax = 1_000

/** The parts of a template; `undefined` if braces are left that belong to no expression. */
export function partsOf(template: string): readonly TemplatePart[] | undefined {
  const known = parts.get(template)
  if (known) return known
  const found: TemplatePart[] = []
  let at = 0
  for (;;) {
    const begin = template.indexOf('{{', at)
    const text = template.slice(at, begin === -1 ? undefined : begin)
    if (text.includes('}}')) return undefined
    if (text !== '') found.push({ text })
    if (begin === -1) break
    const end = endOf(template, begin + 2)
    if (end === -1) return undefined
    found.push({ expression: template.slice(begin + 2, end).trim() })
    at = end + 2
  }
  if (parts.size >= partsMax) parts.clear()
  parts.set(template, found)
  return found
}

/** The index of the braces that end an expression, outside of its texts; -1 if there are none. */
function endOf(template: string, from: number): number {
  let quote = ''
  for (let at = from; at < template.length; at++) {
    const character = template[at] as string
    if (quote !== '') {
      if (character === '\\') at++
      else if (character === quote) quote = ''
    } else if (character === '"' || character === "'") quote = character
    else if (template.startsWith('}}', at)) return at
    else if (template.startsWith('{{', at)) return -1
  }
  return -1
}

/** The expressions in a template. */
export const expressionsIn = (template: string): string[] =>
  (partsOf(template) ?? []).flatMap((part) => ('expression' in part ? [part.expression] : []))

/** The text of a template; a value that is missing is empty. @param encode for each value. Throws `ExpressionError`. */
export const fill = (
  template: string,
  values: TemplateValues,
  encode: (value: string) => string = (value) => value,
): string =>
  (partsOf(template) ?? [])
    .map((part) => ('text' in part ? part.text : encode(textOfJson(resultOf(part.expression, values)))))
    .join('')

const resultOf = (expression: string, { nowMs = Date.now(), ...values }: TemplateValues): unknown =>
  evaluate(expression, values, nowMs)

/** Texts by name; a template that is one expression without a value is left out. */
export function fillTexts(templates: Readonly<Record<string, string>>, values: TemplateValues): Record<string, string> {
  const entries = Object.entries(templates).flatMap(([key, template]): [string, string][] => {
    const text = fill(template, values)
    const [first, ...more] = partsOf(template) ?? []
    return text === '' && more.length === 0 && first && 'expression' in first ? [] : [[key, text]]
  })
  return Object.fromEntries(entries)
}

/**
 * A body whose texts are filled; everything else stays. A text that is one expression becomes its value, and a key without one is left
 * out. The keys of an object at the key `...` are added to the other keys, which win.
 */
export function fillDeep(body: unknown, values: TemplateValues): unknown {
  if (typeof body === 'string') {
    const [first, ...more] = partsOf(body) ?? []
    return first && more.length === 0 && 'expression' in first ? resultOf(first.expression, values) : fill(body, values)
  }
  if (Array.isArray(body)) return body.map((one) => fillDeep(one, values))
  if (typeof body !== 'object' || body === null) return body
  const filled = Object.entries(body).map(([key, value]) => [key, value, fillDeep(value, values)] as const)
  const given = filled.filter(([, value, result]) => !(typeof value === 'string' && isEmpty(result) && value !== ''))
  const entries = given.map(([key, , result]) => [key, result] as const)
  const beside = entries.flatMap(([key, one]) => (key === '...' && isPlain(one) ? Object.entries(one) : []))
  return Object.fromEntries([...beside, ...entries.filter(([key]) => key !== '...')])
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
