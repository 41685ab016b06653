import { typeOfElement } from './cells.ts'
import type { ColumnType } from './column-types.ts'
import type { SchemaNode } from './schema.ts'

/** The type of a column or of a nested node, by the JSON text of its values; `null` for texts. */
export function typeOfNode(node: SchemaNode): ColumnType | null {
  const type = typeOfBody(node)
  return node.repetition === 'REPEATED' ? { kind: 'list', items: type } : type
}

function typeOfBody({ kind, element, children }: SchemaNode): ColumnType | null {
  if (element) return typeOfElement(element)
  if (kind === 'struct') {
    return { kind: 'struct', fields: children.map((child) => ({ name: child.name, type: typeOfNode(child) })) }
  }
  const [repeated] = children
  if (kind === 'map' || !repeated) return { kind: 'json' }
  const [item] = repeated.children
  return { kind: 'list', items: item ? typeOfNode(item) : typeOfBody(repeated) }
}
