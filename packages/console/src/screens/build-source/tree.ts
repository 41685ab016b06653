import { columnAt, entriesOf, isContainer, matches } from './answer-json.ts'

/** The lines of an answer that its tree shows. */

/** One value, or the line that shows more of a long list. */
export type TreeNode = {
  readonly place: readonly string[]
  /** Undefined: the answer itself. */
  readonly name: string | undefined
  readonly value: unknown
  readonly depth: number
  readonly isOpen: boolean
  /** Of its list or object, from 1, and how many there are. */
  readonly position: number
  readonly siblings: number
  /** Entries of the list above that are not shown yet, in the line that shows them. */
  readonly hidden?: number
}

/** State of a tree: places that the user opened, closed, or wants to see more of. */
export type TreeState = {
  readonly open: ReadonlyMap<string, boolean>
  readonly limits: ReadonlyMap<string, number>
}

export const keyOfPlace = (place: readonly string[]): string => JSON.stringify(place)

/** Entries of a list or an object that are shown at first, and with each further step. */
export const entriesStep = 50

/** The lines of a tree. @param records the path to the records, of which the first one is open */
export function nodesOf(answer: unknown, records: readonly string[], { open, limits }: TreeState): TreeNode[] {
  const nodes: TreeNode[] = []
  const add = (node: Omit<TreeNode, 'isOpen' | 'depth'>) => {
    const { place, value } = node
    const isOpen = isContainer(value) && (open.get(keyOfPlace(place)) ?? isOpenAtFirst(place, records))
    nodes.push({ ...node, depth: place.length, isOpen })
    if (!isOpen) return
    const entries = entriesOf(value)
    const limit = limits.get(keyOfPlace(place)) ?? entriesStep
    for (const [at, [name, one]] of entries.slice(0, limit).entries()) {
      add({ place: [...place, name], name, value: one, position: at + 1, siblings: entries.length })
    }
    if (entries.length <= limit) return
    nodes.push({
      place,
      name: undefined,
      value: undefined,
      depth: place.length + 1,
      isOpen: false,
      position: limit + 1,
      siblings: entries.length,
      hidden: entries.length - limit,
    })
  }
  add({ place: [], name: undefined, value: answer, position: 1, siblings: 1 })
  return nodes
}

/** Open are the first levels, the way to the records, and the first record. */
function isOpenAtFirst(place: readonly string[], records: readonly string[]): boolean {
  if (place.length < 2 && !/^[1-9]/.test(place.at(-1) ?? '')) return true
  const above = records.slice(0, place.length)
  if (place.length <= records.length) return matches(place, above)
  return matches(place.slice(0, records.length), records) && place.slice(records.length).join('.') === '0'
}

/** The effect of a click on a value. */
export type TreePick =
  | { readonly kind: 'records'; readonly keys: readonly string[] }
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'next'; readonly keys: readonly string[] }
  | { readonly kind: 'open' }

/**
 * The use of a value: a list outside of the records as records, a value in a record as column, another value as the way to the
 * next page.
 * @param hasRecords whether records were picked, or the answer is a list
 */
export function pickOf(answer: unknown, node: TreeNode, records: readonly string[], hasRecords: boolean): TreePick {
  const { place, value } = node
  const isList = Array.isArray(value)
  if (hasRecords) {
    const column = columnAt(answer, place, records)
    if (column !== undefined && (isList || !isContainer(value))) return { kind: 'column', column }
    // The records themselves, and what is in their lists.
    if (matches(place.slice(0, records.length), records)) return { kind: 'open' }
  }
  if (isList && place.length > 0 && place.every((key) => !/^\d+$/.test(key))) return { kind: 'records', keys: place }
  if (isContainer(value) || place.length === 0) return { kind: 'open' }
  return value === null || typeof value === 'boolean' ? { kind: 'open' } : { kind: 'next', keys: place }
}
