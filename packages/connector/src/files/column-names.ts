/**
 * Column names of a header: trimmed, unique and not empty. An empty name becomes `column_3`, a second `email` becomes
 * `email_2`. The time is proportional to the names, regardless of duplicates.
 */
export function distinctNames(header: readonly string[]): string[] {
  const trimmed = header.map((name, index) => name.trim() || `column_${index + 1}`)
  // Names in the header are reserved for their own columns.
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
