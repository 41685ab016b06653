import { type Cell, type ColumnType, ConnectorError, type DestinationContext, likelyType } from '@penstock/connector'
import { readDeclaredType } from './declared-types.ts'
import { columnTypes } from './fields.ts'

/**
 * The types of the columns of a table that a destination creates: the ones that the setting names, else those of the source, else what all of the
 * first rows are. Values that do not all have one type are text until somebody chooses one: nothing is lost.
 */
export function createdTypes({
  columns,
  types,
  rows = [],
  settings,
}: Pick<DestinationContext, 'columns' | 'types' | 'settings'> & Pick<DestinationContext, 'rows'>): ColumnType[] {
  const chosen = chosenTypes(settings.columnTypes, columns)
  return columns.map(
    (name, at) =>
      chosen.get(name) ?? types?.[at] ?? inferredType(rows.map((row) => row[at] ?? null)) ?? { kind: 'text' },
  )
}

const choice = new RegExp(`^(?:${columnTypes.join('|')}|numeric\\(\\d{1,4}(?:, *\\d{1,4})?\\))$`)

function chosenTypes(text: unknown, columns: readonly string[]): ReadonlyMap<string, ColumnType> {
  if (typeof text !== 'string' || text.trim() === '') return new Map()
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    throw invalid('is not JSON')
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw invalid('is not a JSON object')
  return new Map(
    Object.entries(read).map(([name, type]) => {
      if (!columns.includes(name)) throw invalid(`names the column ${name}, which is not delivered`)
      if (typeof type !== 'string' || !choice.test(type)) {
        throw invalid(`has an unknown type for ${name}: use ${columnTypes.join(', ')} or numeric(10,2)`)
      }
      return [name, type === 'timestamp' ? { kind: 'timestamp' } : readDeclaredType(type)]
    }),
  )
}

function inferredType(cells: readonly Cell[]): ColumnType | undefined {
  const kind = likelyType(cells, true)?.kind
  return kind && { kind }
}

const invalid = (what: string): ConnectorError =>
  new ConnectorError('invalid_setting', `Column types ${what}. Expected a form such as {"zip": "text"}.`)

/** Why a database cannot have names of columns, and other names that it can have. */
export type NameRules = {
  readonly product: string
  readonly lengthMax: number
  readonly lengthOf: (name: string) => number
  /** Names are equal if these are. */
  readonly keyOf: (name: string) => string
  readonly reserved: ReadonlySet<string>
  readonly unit: 'bytes' | 'characters'
}

/** @returns each name that the database cannot have, why, and one that it could have */
export function impossibleNames(
  columns: readonly string[],
  { product, lengthMax, lengthOf, keyOf, reserved, unit }: NameRules,
): { readonly name: string; readonly reason: string }[] {
  const seen = new Map<string, string>()
  return columns.flatMap((name) => {
    const same = seen.get(keyOf(name))
    seen.set(keyOf(name), name)
    const shorter = shortened(name, lengthMax, lengthOf)
    const shown = name.replaceAll(/\p{Cc}/gu, '?')
    if (name.trim() === '') return [{ name, reason: 'A column has no name. Map it to a name such as column_1.' }]
    if (/\0/.test(name))
      return [{ name, reason: `The name ${shown} contains a zero byte. Map the column to another name.` }]
    if (lengthOf(name) > lengthMax) {
      const reason = `${product} allows column names of at most ${lengthMax} ${unit}, and ${shown} is longer. Map the column to a name such as ${shorter}.`
      return [{ name, reason }]
    }
    if (reserved.has(keyOf(name))) {
      return [
        {
          name,
          reason: `${product} reserves the column name ${shown}. Map the column to a name such as ${shown}_value.`,
        },
      ]
    }
    if (same === undefined) return []
    return [
      {
        name,
        reason: `The column names ${same} and ${shown} are the same for ${product}. Map one of them to a name such as ${shown}_2.`,
      },
    ]
  })
}

function shortened(name: string, lengthMax: number, lengthOf: (name: string) => number): string {
  const characters = [...name]
  while (lengthOf(characters.join('')) > lengthMax) characters.pop()
  return characters.join('')
}
