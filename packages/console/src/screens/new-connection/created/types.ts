/** Types that were chosen for the columns of a created table, by column: the setting `columnTypes`. */
export type ChosenTypes = Readonly<Record<string, string>>

/** @returns none if the text cannot be read */
export function readTypes(text: string): ChosenTypes {
  try {
    const types: unknown = JSON.parse(text || '{}')
    if (typeof types !== 'object' || types === null) return {}
    return Object.fromEntries(Object.entries(types).filter(([, type]) => typeof type === 'string'))
  } catch {
    return {}
  }
}

/** The text of the setting; empty without a chosen type. @param columns of the table, if they are known; the setting names no others */
export function writeTypes(types: ChosenTypes, columns?: readonly string[]): string {
  const kept = Object.entries(types).filter(([name, type]) => type !== '' && (!columns || columns.includes(name)))
  return kept.length === 0 ? '' : JSON.stringify(Object.fromEntries(kept))
}
