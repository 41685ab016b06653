/**
 * Column names out of a header: trimmed, and none of them empty or twice. An empty one becomes `column_3`, a second
 * `email` becomes `email_2`. Takes time in proportion to the names, however many of them are equal.
 */
export function distinctNames(header: readonly string[]): string[] {
  const trimmed = header.map((name, index) => name.trim() || `column_${index + 1}`)
  // Names of the header are kept for the columns that have them.
  const given = new Set(trimmed)
  const taken = new Set<string>()
  const nextNumber = new Map<string, number>()
  return trimmed.map((name) => {
    let distinct = name
    for (let number = nextNumber.get(name) ?? 2; taken.has(distinct); number += 1) {
      const next = `${name}_${number}`
      if (!given.has(next)) distinct = next
      nextNumber.set(name, number + 1)
    }
    taken.add(distinct)
    return distinct
  })
}
