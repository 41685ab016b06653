import type { Batch, Rejection, Values } from '@penstock/connector'
import type { JsonObject } from '../../platform-api/json.ts'
import type { BatchRow } from '../../platform-api/rows/batch-rows.ts'
import { readCurrency } from '../../platform-api/rows/event-values.ts'
import { type Read, readRows, wrong } from '../../platform-api/rows/events.ts'
import { amountOf, microsOf } from '../../platform-api/rows/money.ts'
import type { PostingDestination, PostingLevel } from '../posting-facts.ts'
import { valueAt } from './open-api.ts'
import { eventReader } from './read-event.ts'

/** A row: one object of a level. */
export type Posting = {
  readonly index: number
  readonly level: string
  readonly id: string | undefined
  readonly name: string | undefined
  readonly parent: { readonly id: string | undefined; readonly name: string | undefined }
  readonly currency: string | undefined
  /** By the platform's keys. Amounts are texts in whole units of the currency. */
  readonly values: JsonObject
}

/** The columns of a level that are amounts. */
export const amountsOf = ({ columns }: PostingLevel) =>
  Object.entries(columns).flatMap(([column, { reading, to }]) =>
    reading.kind === 'amount' ? [{ column, path: to, isBudget: reading.isBudget === true }] : [],
  )

/** Makes the function that reads the rows of a batch without the platform, or says why a row cannot be sent. */
export function postingReader(facts: PostingDestination, settings: Values) {
  const { levels, platformApi } = facts
  const names = Object.keys(levels)
  const readers = new Map(
    Object.entries(levels).map(([name, { columns, finish }]) => {
      const person = { anyOf: [], missing: '', field: '' }
      return [
        name,
        eventReader({ columns, person, platformName: platformApi.name, ...(finish && { finish }) }),
      ] as const
    }),
  )
  const budgetMax = microsOf(String(settings.budgetMax ?? '')) ?? 0n
  return (batch: Batch): { rows: Posting[]; rejected: Rejection[] } => readRows(batch, (row) => read(batch, row))

  function read(batch: Batch, row: BatchRow): Read<Posting> {
    const name = (row.text('level') ?? String(settings.level ?? names[0])).toLowerCase().replaceAll(/[\s-]+/g, '_')
    const [level, reader] = [Object.hasOwn(levels, name) ? levels[name] : undefined, readers.get(name)]
    if (!level || !reader) return wrong(`The level must be ${names.join(' or ')}.`, 'level')
    const addressed = readAddress(level, row)
    if ('wrong' in addressed) return addressed
    const foreign = foreignColumn(level, row)
    if (foreign !== undefined) return wrong(`A row of the level ${name} cannot have a value in ${foreign}.`, foreign)
    const currency = readCurrency(row, 'currency')
    if ('wrong' in currency) return currency
    const found = reader(batch, row, settings)
    if ('wrong' in found) return found
    const values = found.read.event
    for (const { column, path, isBudget } of amountsOf(level)) {
      const micros = microsOf(String(valueAt(values, path) ?? ''))
      if (isBudget && micros !== undefined && micros > budgetMax) {
        const reason = `A value is above the greatest budget of the connection, ${amountOf(budgetMax)}.`
        return wrong(reason, column)
      }
    }
    return { read: { index: row.index, level: name, ...addressed.read, currency: currency.read, values } }
  }

  /** A column of another level that has a value. */
  function foreignColumn({ columns }: PostingLevel, row: BatchRow): string | undefined {
    const others = Object.values(levels).flatMap((other) => Object.keys(other.columns))
    return others.find((name) => !Object.hasOwn(columns, name) && row.text(name) !== undefined)
  }

  function readAddress(level: PostingLevel, row: BatchRow): Read<Pick<Posting, 'id' | 'name' | 'parent'>> {
    const [id, name] = [row.text('id'), row.text('name')]
    if (id !== undefined && !level.id.test(id)) return wrong(`The ID of the ${level.one} is not valid.`, 'id')
    if (id === undefined && name === undefined)
      return wrong(`The row has no ID and no name of the ${level.one}.`, 'name')
    if (name !== undefined && name.length > level.nameMax) {
      return wrong(`The name has more than ${level.nameMax} characters.`, 'name')
    }
    const { parent: above } = level
    const parentLevel = above === undefined ? undefined : levels[above]
    if (!parentLevel) return { read: { id, name, parent: { id: undefined, name: undefined } } }
    const parent = { id: row.text(`${above}_id`), name: row.text(`${above}_name`) }
    if (parent.id !== undefined && !parentLevel.id.test(parent.id)) {
      return wrong(`The ID of the ${parentLevel.one} is not valid.`, `${above}_id`)
    }
    if (id === undefined && parent.id === undefined && parent.name === undefined) {
      return wrong(`The row has no ID and no name of the ${parentLevel.one} of the ${level.one}.`, `${above}_name`)
    }
    return { read: { id, name, parent } }
  }
}
