import { asConnectorError, type Batch, type BatchWindow, type WindowScope } from '@penstock/connector'
import type { JudgedColumn } from './rows.ts'

/** How a warehouse replaces windows. A stage has the keys of all rows of a batch until the window ends. */
export type WindowStore<Stage> = {
  /** Deletes the rows of a window's scope whose keys are not in any of the stages. It can be repeated. */
  readonly deleteOthers: (batch: Batch & { readonly window: BatchWindow }, stages: readonly Stage[]) => Promise<void>
  /** Removes a stage. Throws only if the transfer ends. */
  readonly drop: (stage: Stage) => Promise<void>
  /** Called with a stage whose window continues, if that must be stored. It can be repeated. */
  readonly keep?: (stage: Stage) => Promise<void>
  /** Maximum weight of all stages of a window. Rows of a larger window are not deleted. */
  readonly most: number
  /** 1 unless given. */
  readonly weightOf?: (stage: Stage) => number
}

/** The user is not allowed to delete rows, or a stage was removed meanwhile. Then the rows stay. */
const tolerated = new Set(['permission_denied', 'table_not_found', 'object_not_found'])

/**
 * Replaces windows in a warehouse that has no sessions. Only this process knows which batches a window has. So nothing is
 * deleted for a window that another process began, as with a temporary table, and the next transfer reads the window again.
 */
export class StagedWindows<Stage> {
  readonly #store: WindowStore<Stage>
  #scope: string | undefined
  #stages = new Map<string, Stage>()

  constructor(store: WindowStore<Stage>) {
    this.#store = store
  }

  /**
   * Called after the rows of a batch were written.
   * @param stage with all rows of the batch; `undefined` if some rows were rejected, or if the batch has no rows
   */
  async settle(batch: Batch, stage: Stage | undefined): Promise<void> {
    const { window, key } = batch
    const isWhole = window?.spoiled === false && (batch.rows.length === 0 || stage !== undefined)
    this.#stages.delete(key)
    const scope = JSON.stringify(window?.scope)
    if (window?.begins || !isWhole || this.#scope !== scope) await this.forget()
    if (stage !== undefined) this.#stages.set(key, stage)
    if (!window || !isWhole || (!window.begins && this.#scope !== scope) || this.#weight() > this.#store.most) {
      return await this.forget()
    }
    this.#scope = scope
    try {
      if (!window.ends) {
        if (stage !== undefined) await this.#store.keep?.(stage)
        return
      }
      await this.#store.deleteOthers({ ...batch, window }, [...this.#stages.values()])
    } catch (error) {
      if (!tolerated.has(asConnectorError(error)?.code ?? '')) throw error
    }
    await this.forget()
  }

  /** Removes all stages. */
  async forget(): Promise<void> {
    this.#scope = undefined
    const stages = [...this.#stages.values()]
    this.#stages = new Map()
    for (const stage of stages) await this.#store.drop(stage)
  }

  #weight(): number {
    const { weightOf = () => 1 } = this.#store
    return [...this.#stages.values()].reduce((sum, stage) => sum + weightOf(stage), 0)
  }
}

/** Whether the rows of a batch are a window, so that one statement can write and replace it. */
export const isWholeWindow = ({ window, rows }: Batch): boolean =>
  window?.begins === true && window.ends && !window.spoiled && rows.length > 0

/**
 * The condition that a row belongs to a scope, in SQL. `undefined` if a value of the scope is not valid for its column: then no
 * row can have it.
 * @param names the delivered columns, in the order of `columns`
 * @param expressionOf SQL of a column @param literalOf SQL of a value that was read for it; `undefined` if it is not compared
 * exactly
 */
export function scopeCondition<Column extends Pick<JudgedColumn, 'read'>>(
  scope: WindowScope,
  names: readonly string[],
  columns: readonly Column[],
  expressionOf: (column: Column) => string,
  literalOf: (column: Column, text: string) => string | undefined,
): string | undefined {
  const conditions: string[] = []
  for (const [name, values] of Object.entries(scope)) {
    const column = columns[names.indexOf(name)]
    if (column === undefined || values.length === 0) return undefined
    const literals = values.map((value) => {
      const read = column.read(value)
      return 'reason' in read || read.value === null ? undefined : literalOf(column, String(read.value))
    })
    if (literals.includes(undefined)) return undefined
    conditions.push(`${expressionOf(column)} in (${literals.join(', ')})`)
  }
  return conditions.length === 0 ? undefined : conditions.join(' and ')
}
