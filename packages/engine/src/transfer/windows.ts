import type { BatchWindow, Chunk, ChunkWindow, Destination, Values, WindowScope } from '@penstock/connector'
import type { MappingStep } from '../mapping/choose-columns.ts'

/**
 * Windows of a source in the form for a destination: by its own columns. A destination deletes rows of a window that the window
 * does not contain, so rows are kept in case of doubt.
 */

/** The scope at the destination, or why rows that vanished stay there, as a part of a sentence. */
export type MappedScope =
  | { readonly scope: WindowScope; readonly stays?: undefined }
  | { readonly scope?: undefined; readonly stays: string }

/** Finds the columns of a scope at the destination. @param settings of the destination */
export function scopeAt(
  { windowKeys }: Pick<Destination, 'windowKeys'>,
  settings: Values,
  steps: readonly MappingStep[],
  { scope, key }: Pick<ChunkWindow, 'scope' | 'key'>,
): MappedScope {
  if (!windowKeys) return { stays: 'this destination cannot delete them' }
  const unmapped = key.find((name) => !steps.some((step) => step.column?.name === name))
  if (unmapped !== undefined) return { stays: `no column gets ${unmapped}, by which rows differ: map one to it` }
  const needed = key.flatMap((name) => steps.find((step) => step.column?.name === name)?.field ?? [])
  const keys = windowKeys(settings)
  if (!keys || needed.some((field) => !keys.includes(field))) {
    return { stays: `choose Update by key (Upsert), with the key columns ${needed.join(', ')}` }
  }
  const mapped: Record<string, readonly string[]> = {}
  for (const [name, values] of Object.entries(scope)) {
    const step = steps.find((one) => one.column?.name === name && passes(one))
    if (!step) return { stays: `no column gets ${name} as it is: map one to it` }
    if (!keys.includes(step.field)) return { stays: `add ${step.field} to the key columns` }
    mapped[step.field] = values
  }
  // One table can contain the rows of several connections, which differ by a value for all rows.
  for (const { field, value } of steps) if (value !== undefined) mapped[field] = [value]
  return { scope: mapped }
}

/** Whether rows that differ by these columns of the source have different keys at the destination. @param keys its key columns */
export const areApart = (steps: readonly MappingStep[], keys: readonly string[], apart: readonly string[]): boolean =>
  apart.every((name) => steps.some((step) => step.column?.name === name && passes(step) && keys.includes(step.field)))

/** Whether a column passes unchanged. */
const passes = ({ definition, local, values, default: fallback, value }: MappingStep): boolean =>
  !definition && !local && !values && fallback === undefined && value === undefined

/** The window of a chunk, by the columns of the destination. */
export type WindowOf = (chunk: Chunk) => ChunkWindow | undefined

type Scoped = Pick<ChunkWindow, 'scope'>

/** Whether two windows are equal. */
export const isSame = (a: Scoped | undefined, b: Scoped | undefined): boolean =>
  (a === undefined && b === undefined) || (a && b ? JSON.stringify(a.scope) === JSON.stringify(b.scope) : false)

/** The window of the halves of a batch. One half is refused, so it is unknown which rows are missing. */
export const windowOfHalf = (window: BatchWindow, half: 'first' | 'second'): BatchWindow => ({
  scope: window.scope,
  begins: window.begins && half === 'first',
  ends: window.ends && half === 'second',
  spoiled: true,
})
