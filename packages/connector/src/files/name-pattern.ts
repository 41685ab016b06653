/**
 * Creates a function that tests names with a pattern. `*` matches any characters or none, and `?`, if it is a wildcard, matches
 * exactly one. The parts between stars are found from left to right and never searched again, so the work for a name is at most
 * its length times the length of the longest part, for any pattern.
 * @param pattern case matters; every other character matches itself
 * @param options.question whether `?` is a wildcard
 */
export function nameMatcher(pattern: string, options: { question?: boolean } = {}): (name: string) => boolean {
  const any = options.question ? '?' : undefined
  const parts = pattern.split('*')
  const first = parts.shift() ?? ''
  const last = parts.pop()
  if (last === undefined) return (name) => name.length === first.length && matchesAt(name, 0, first, any)
  const between = parts.filter((part) => part !== '')
  return (name) => {
    if (!matchesAt(name, 0, first, any)) return false
    let at = first.length
    for (const part of between) {
      at = findPart(name, at, part, any)
      if (at === -1) return false
      at += part.length
    }
    const end = name.length - last.length
    return end >= at && matchesAt(name, end, last, any)
  }
}

function findPart(name: string, from: number, part: string, any: string | undefined): number {
  if (any === undefined || !part.includes(any)) return name.indexOf(part, from)
  for (let at = from; at + part.length <= name.length; at += 1) if (matchesAt(name, at, part, any)) return at
  return -1
}

function matchesAt(name: string, at: number, part: string, any: string | undefined): boolean {
  if (at + part.length > name.length) return false
  if (any === undefined || !part.includes(any)) return name.startsWith(part, at)
  for (let index = 0; index < part.length; index += 1) {
    if (part[index] !== any && part[index] !== name[at + index]) return false
  }
  return true
}
