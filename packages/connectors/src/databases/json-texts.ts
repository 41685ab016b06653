const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g

type Level = { readonly names: Set<string> | undefined; isName: boolean }

/**
 * The first name that an object of a JSON text contains more than once; `undefined` if there is no such name. Of a text that is not JSON, the
 * answer means nothing.
 */
export function repeatedName(text: string): string | undefined {
  if (!text.includes('{')) return undefined
  const levels: Level[] = []
  for (const [token] of text.matchAll(tokens)) {
    const level = levels.at(-1)
    if (token === '{') levels.push({ names: new Set(), isName: true })
    else if (token === '[') levels.push({ names: undefined, isName: false })
    else if (token === '}' || token === ']') levels.pop()
    else if (token === ',' && level?.names) level.isName = true
    else if (level?.names && level.isName && token.startsWith('"')) {
      level.isName = false
      const name = nameIn(token)
      if (level.names.has(name)) return name
      level.names.add(name)
    }
  }
  return undefined
}

/** Escapes write the same name in several ways. */
function nameIn(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1)
  try {
    return String(JSON.parse(token))
  } catch {
    return token
  }
}

/** The numbers in a JSON text, as they are written. */
export function* numbersIn(text: string): Generator<string> {
  for (const [token] of text.matchAll(tokens)) if (/^[-\d]/.test(token)) yield token
}
