import type { StreamEvent } from '@penstock/wire'

/** A column in the events in view: how many have it, and a few different values as the reader may see them. */
export type ColumnExamples = { readonly events: number; readonly values: readonly string[] }

const valuesMax = 2
const lengthMax = 40

/** The columns of the newest stored events whose values are in view. `events` is how many of them could be read. */
export function examplesOf(events: readonly StreamEvent[]): {
  readonly events: number
  readonly columns: ReadonlyMap<string, ColumnExamples>
} {
  const columns = new Map<string, { events: number; values: string[] }>()
  let read = 0
  for (const { outcome, value } of events) {
    const parsed = outcome === 'stored' ? parse(value) : undefined
    if (parsed === undefined) continue
    read++
    eachLeaf(parsed, (name, leaf) => {
      const column = columns.get(name) ?? { events: 0, values: [] }
      columns.set(name, column)
      column.events++
      const text = leaf.length > lengthMax ? `${leaf.slice(0, lengthMax)}…` : leaf
      if (column.values.length < valuesMax && text !== '' && !column.values.includes(text)) column.values.push(text)
    })
  }
  return { events: read, columns }
}

/** Undefined for an event without values, and for one that was cut. */
function parse(value: string | null): object | undefined {
  try {
    const parsed: unknown = JSON.parse(value ?? '')
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined
  } catch {
    return undefined
  }
}

function eachLeaf(value: object, see: (name: string, leaf: string) => void, above = ''): void {
  for (const [key, one] of Object.entries(value)) {
    const name = above + key
    if (typeof one === 'object' && one !== null && !Array.isArray(one)) eachLeaf(one, see, `${name}.`)
    else if (one !== null) see(name, typeof one === 'string' ? one : JSON.stringify(one))
  }
}
