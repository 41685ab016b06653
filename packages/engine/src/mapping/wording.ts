/** How mistakes in a mapping are worded. */

/** How a caller names a column for a field. */
export const howToMap = (field: string): string => `name one, {${JSON.stringify(field)}: "column of the source"}`

export const noSuchColumn = (name: string, columns: readonly string[]): string =>
  `names the column ${name}, which the source does not have; its columns are ${list(columns)}`

/** Names in a sentence, the first twenty of them. */
export const list = (names: readonly string[]): string =>
  names.length > 20 ? `${names.slice(0, 20).join(', ')} and ${names.length - 20} more` : names.join(', ') || 'none'
