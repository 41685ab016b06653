/**
 * Splits the types in brackets at the commas that are in no further brackets, quotes or backticks.
 * @param escaping the quotes within which a backslash takes its meaning from the next character
 */
export function splitTypes(text: string, escaping: string): string[] {
  const parts: string[] = []
  let depth = 0
  let quote = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (quote !== '') {
      if (character === '\\' && escaping.includes(quote)) at += 1
      else if (character === quote) quote = ''
    } else if (`'"\``.includes(character)) quote = character
    else if ('<('.includes(character)) depth += 1
    else if ('>)'.includes(character)) depth -= 1
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)]
}
