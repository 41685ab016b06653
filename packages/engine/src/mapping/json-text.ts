/** Detects errors that the JSON parser does not report: the place of a syntax error, and repeated keys. */

const token =
  /[ \t\n\r]*(?:("(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/uy

/** An object or a list around a token. */
type Holder = { readonly isObject: boolean; readonly keys: Set<string>; key: string }
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing'

/**
 * Reads a text by the grammar of JSON.
 * @returns `brokenAt`: the offset of the first invalid character; `repeated`: the keys that occur more than once in their object,
 * each as the first two keys of its path
 */
export function scanJson(text: string): { brokenAt?: number; repeated: string[][] } {
  const repeated: string[][] = []
  const around: Holder[] = []
  let expected: Expected = 'value'
  let at = 0
  const afterValue = (): Expected => (around.length === 0 ? 'nothing' : 'comma or end')
  for (;;) {
    token.lastIndex = at
    const [whole, string, literal, sign] = token.exec(text) ?? []
    const start = skipSpace(text, at)
    if (start === text.length && expected === 'nothing') return { repeated }
    if (whole === undefined) return { brokenAt: start, repeated }
    at += whole.length
    const holder = around.at(-1)
    const takesValue = expected === 'value' || expected === 'value or end'
    const takesEnd = expected.endsWith('or end')
    if (string !== undefined && expected.startsWith('key') && holder) {
      holder.key = JSON.parse(string)
      if (holder.keys.has(holder.key)) repeated.push(around.slice(0, 2).map(({ key }) => key))
      holder.keys.add(holder.key)
      expected = 'colon'
    } else if ((string !== undefined || literal !== undefined) && takesValue) expected = afterValue()
    else if ((sign === '{' || sign === '[') && takesValue) {
      around.push({ isObject: sign === '{', keys: new Set(), key: '' })
      expected = sign === '{' ? 'key or end' : 'value or end'
    } else if ((sign === '}' || sign === ']') && takesEnd && holder?.isObject === (sign === '}')) {
      around.pop()
      expected = afterValue()
    } else if (sign === ':' && expected === 'colon') expected = 'value'
    else if (sign === ',' && expected === 'comma or end') expected = holder?.isObject ? 'key' : 'value'
    else return { brokenAt: start, repeated }
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\n\r'.includes(text[at] as string)) at++
  return at
}
