import type { ColumnType } from '@penstock/connector'
import { splitTypes } from '../databases/nested-types.ts'

/** Types within each other that are declared. */
const levelsMax = 10

/**
 * The type of a list or struct, as in `array<struct<id:int,name:string>>`, or JSON for maps and variants. `undefined` for other
 * texts.
 * @param scalarOf the type of a value that is neither
 */
export function nestedTypeOf(
  declared: string,
  scalarOf: (declared: string) => ColumnType | null,
  level = 0,
): ColumnType | undefined {
  const [, name = '', inside = ''] = /^\s*(array|struct)\s*<(.*)>\s*$/is.exec(declared) ?? []
  if (level === levelsMax || name === '') return undefined
  const typeOf = (text: string): ColumnType | null =>
    /^\s*(map|variant|object)\b/i.test(text)
      ? { kind: 'json' }
      : /^\s*(array|struct)\s*</i.test(text)
        ? (nestedTypeOf(text, scalarOf, level + 1) ?? { kind: 'json' })
        : scalarOf(text)
  if (name.toLowerCase() === 'array') return { kind: 'list', items: typeOf(inside) }
  const fields = splitTypes(inside, `'"`).map((field) => {
    const [, quoted, plain = '', type = ''] = /^\s*(?:`((?:[^`]|``)*)`|([^\s:`]+))\s*:\s*(.*)$/s.exec(field) ?? []
    // Text behind a type describes its use, and is no part of it.
    const bare = type.replace(/\s+(NOT NULL|COMMENT)\b.*$/is, '')
    return { name: quoted === undefined ? plain : quoted.replaceAll('``', '`'), type: typeOf(bare) }
  })
  return fields.some((field) => field.name === '') ? undefined : { kind: 'struct', fields }
}
