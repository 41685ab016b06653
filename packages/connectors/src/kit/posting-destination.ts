import { type Connector, column, defineConnector, type FieldDefinition, number, select } from '@penstock/connector'
import { recordOf } from './columns.ts'
import { discoveriesOf } from './listing.ts'
import { inWords } from './names.ts'
import type { PostingDestination } from './posting-facts.ts'

/**
 * Creates a connector from the facts. Throws immediately, as a programmer's error, if facts break a rule of `defineConnector`.
 */
export function postingDestination(facts: PostingDestination): Connector {
  const { platformApi, auth, settings, listed, account, money, levels, validates, refusal, isTaken, ...rest } = facts
  const { check, ...definition } = rest
  const run = () => import('./run/postings.ts')
  return defineConnector({
    ...definition,
    dataType: 'campaign posting',
    dataTypeCategory: 'campaign management',
    actions: ['create', 'update'],
    check: async (context) => (await import('./run/check-postings.ts')).checkPostings(facts, context),
    destination: {
      fields: { ...fieldsOf(facts), ...settingsOf(facts) },
      records: recordsOf(facts),
      ...(listed && { discover: discoveriesOf(facts, settings) }),
      deliver: {
        batch: () => ({ rowsMax: 50, bytesMax: 1_000_000 }),
        open: async (context) => (await run()).openPostings(facts, context),
        inspect: async (context) => (await import('./run/check-postings.ts')).inspectPostings(facts, context),
        rejectionsOf: async (context) => (await run()).rejectionsOf(facts, context),
        tryRows: async (context) => (await run()).tryPostings(facts, context),
      },
    },
  })
}

/** The settings of the facts, without the forms of IDs. */
const fieldsOf = ({ settings }: PostingDestination): Record<string, FieldDefinition> =>
  Object.fromEntries(
    Object.entries(settings).map(([key, field]) => {
      if (!('pattern' in field)) return [key, field]
      const { pattern, example, needed, what, ...plain } = field
      return [key, plain]
    }),
  )

/** The settings of every destination that posts campaigns. */
function settingsOf({ levels }: PostingDestination) {
  const names = Object.keys(levels)
  return {
    level: select({
      asked: true,
      label: 'Level',
      description: 'Level of rows without a value in the column level',
      options: names,
      labels: Object.fromEntries(names.map((name) => [name, inWords(name)])),
      default: names[0] ?? '',
    }),
    budgetMax: number({
      keepsState: 'onward',
      label: 'Greatest budget',
      description: 'Rows with a greater budget are rejected, in whole units of the account’s currency',
      required: true,
      min: 0,
      max: 999_999_999_999,
    }),
    increaseMax: number({
      keepsState: 'onward',
      label: 'Greatest increase',
      description: 'The most by which all budgets together may rise in a transfer, in whole units',
      required: true,
      min: 0,
      max: 999_999_999_999,
    }),
  }
}

const either = (words: readonly string[]): string => words.join(' or ')

function recordsOf({ levels }: PostingDestination) {
  const ones = either(Object.values(levels).map(({ one }) => one))
  const records = {
    level: column({
      description: 'Level of the row; by default as set in the connection',
      values: Object.keys(levels),
      addresses: true,
    }),
    id: column({
      description: `ID of the ${ones} to change; without it, the ${ones} is found by its name, or created`,
      addresses: true,
    }),
    name: column({ description: `Name of the ${ones}; together with an ID, the new name`, addresses: true }),
    currency: column({ description: 'Currency of the amounts; the row is rejected if the account has another one' }),
  }
  const parents = [...new Set(Object.values(levels).flatMap(({ parent }) => parent ?? []))]
  const ofParents = parents.flatMap((parent) => {
    const { one = parent } = levels[parent] ?? {}
    const children = either(Object.values(levels).flatMap((level) => (level.parent === parent ? level.one : [])))
    return [
      [`${parent}_id`, column({ description: `ID of the ${one} of the ${children}`, addresses: true })],
      [`${parent}_name`, column({ description: `Name of the ${one} of the ${children}`, addresses: true })],
    ] as const
  })
  const own = Object.values(levels).flatMap(({ columns }) => Object.entries(columns))
  return {
    ...records,
    ...Object.fromEntries(ofParents),
    ...Object.fromEntries(own.map(([name, one]) => [name, recordOf(one)])),
  }
}
