import {
  type Batch,
  type CheckStep,
  type ConnectorContext,
  ConnectorError,
  checkSteps,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type Json,
  type Rejection,
  type Values,
} from '@penstock/connector'
import { assertConnectivity } from '../../platform-api/call.ts'
import { readRows } from '../../platform-api/rows/events.ts'
import type { RestApi } from '../api.ts'
import type { LookUp, LookupDestination } from '../lookup-facts.ts'
import { openApi } from './open-api.ts'

type Facts<Item> = LookupDestination<Item>

const apiOf = <Item>({ platformApi }: Facts<Item>, context: Pick<ConnectorContext, 'secrets'>): RestApi =>
  typeof platformApi === 'function' ? platformApi(context) : platformApi

/** Opens a writer that asks about each row. The same question again changes nothing. Throws `invalid_setting` if answers are not recorded. */
export async function openLookups<Item>(facts: Facts<Item>, context: DestinationContext): Promise<DestinationWriter> {
  assertRecorded(facts, context.settings)
  const ask = await openAsk(facts, context)
  return {
    async deliver(batch) {
      const { rows, rejected } = readItems(facts, batch)
      if (rows.length === 0) return { bytes: 0, rejected }
      const { bytes, results } = await ask(rows.map(({ item }) => item))
      const answers: (Json | null)[] = new Array(batch.rows.length).fill(null)
      for (const [at, { index }] of rows.entries()) {
        const result = results[at]
        if (result && 'answer' in result) answers[index] = result.answer
        else rejected.push({ index, reason: result?.wrong ?? '' })
      }
      return { bytes, rejected, answers }
    },
  }
}

/** Makes the function that finds the rows that ask about nothing, without the platform. */
export const rejectionsOf =
  <Item>(facts: Facts<Item>): ((batch: Batch) => readonly Rejection[]) =>
  (batch) =>
    readItems(facts, batch).rejected

function readItems<Item>({ item }: Facts<Item>, batch: Batch) {
  return readRows(batch, (row) => {
    const found = item(row)
    return 'read' in found ? { read: { index: row.index, item: found.read } } : found
  })
}

async function openAsk<Item>(facts: Facts<Item>, context: ConnectorContext): Promise<LookUp<Item>> {
  const api = apiOf(facts, context)
  const ask = await facts.open(await openApi(context, api, facts.auth), context)
  return async (items) => {
    const answered = await ask(items)
    if (answered.results.length === items.length) return answered
    throw new ConnectorError(
      'malformed_response',
      `${api.name} returned ${answered.results.length} answers to ${items.length} questions.`,
    )
  }
}

function assertRecorded<Item>({ name }: Facts<Item>, { outcomes }: Values): void {
  if (String(outcomes ?? '').trim() !== '') return
  throw new ConnectorError(
    'invalid_setting',
    `${name} answers a value for each row and keeps nothing. Set “Record outcomes in”, so that the answers are recorded.`,
  )
}

/** The check of a lookup: whether the platform responds, and answers a question about no one. */
export const checkLookups = <Item>(facts: Facts<Item>, context: ConnectorContext): Promise<readonly CheckStep[]> =>
  checkSteps(
    ['connectivity', (one) => assertConnectivity(one, `${new URL(apiOf(facts, one).baseUrl).origin}/`)],
    [
      'authentication',
      async (one) => {
        await (await openAsk(facts, one))([facts.probe])
        return `${apiOf(facts, one).name} accepts the credentials and answers.`
      },
    ],
  )(context)

/** The inspection before a transfer: the settings, and a question about no one. */
export async function inspectLookups<Item>(
  facts: Facts<Item>,
  context: InspectionContext,
): Promise<readonly Finding[]> {
  assertRecorded(facts, context.settings)
  await (await openAsk(facts, context))([facts.probe])
  return []
}
