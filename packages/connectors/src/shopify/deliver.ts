import { createHash } from 'node:crypto'
import type {
  Batch,
  DestinationContext,
  DestinationWriter,
  Finding,
  InspectionContext,
  Rejection,
} from '@penstock/connector'
import { type RowBlame, rejectionsOf } from '../platform-api/rows/row-results.ts'
import { readScopes } from './check.ts'
import { assertKey, type CustomerRules, readRows, rulesOf, type SentCustomer } from './customer-rows.ts'
import { type CustomerStep, furtherSteps, setCustomer } from './customer-steps.ts'
import { type Mutations, runLines } from './run-lines.ts'
import { openShopify } from './sign-in.ts'

/**
 * Creates and updates customers. Each batch is a bulk operation, and one more for tags that are added and for each channel with consent. The
 * name of an operation is made of its rows, so that one that was begun before a crash is found again.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, columns } = context
  const rules = rulesOf(settings)
  assertKey(rules, columns)
  const totalMs = Number(settings.resultWaitSeconds ?? 3_600) * 1_000
  // The first batch, and a repeated batch, may have been begun before.
  let isAgain = true
  let mutations: Mutations | undefined
  return {
    async deliver(batch) {
      const { customers, rejected } = readRows(rules, batch)
      if (customers.length === 0) return { bytes: 0, rejected }
      mutations ??= { shopify: openShopify(context), context, totalMs }
      const looks = isAgain
      isAgain = true
      const delivered = await deliverCustomers(mutations, rules, batch.key, customers, looks)
      isAgain = false
      return { bytes: delivered.bytes, rejected: [...rejected, ...delivered.rejected] }
    },
  }
}

/** Runs all steps for the customers, and resolves once each is stored or refused. */
async function deliverCustomers(
  mutations: Mutations,
  { key }: CustomerRules,
  batchKey: string,
  customers: readonly SentCustomer[],
  looks: boolean,
): Promise<{ readonly bytes: number; readonly rejected: readonly Rejection[] }> {
  const blamed: RowBlame[] = []
  const ids = new Map<number, string>()
  let bytes = 0
  const run = async (step: CustomerStep, sent: readonly number[]) => {
    const lines = sent.flatMap((at) => {
      const customer = customers[at]
      const variables = customer && step.variables(customer, ids.get(at) ?? '')
      return variables ? [{ at, text: JSON.stringify(variables) }] : []
    })
    const seed = createHash('sha256').update(`${batchKey} ${step.field}`).digest('hex')
    const done = await runLines(mutations, step, seed, lines, looks)
    bytes += done.bytes
    for (const [at, result] of done.results) {
      if ('id' in result) ids.set(at, result.id)
      else blamed.push({ at, ...result })
    }
  }
  await run(setCustomer(key), [...customers.keys()])
  const stored = [...ids.keys()]
  for (const step of furtherSteps) await run(step, stored)
  return { bytes, rejected: rejectionsOf(customers, blamed) }
}

/** Whether a column finds customers, and the app is allowed to write them. Changes nothing. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  assertKey(rulesOf(context.settings), context.columns)
  const { scopes } = await readScopes(openShopify(context))
  if (scopes.has('write_customers')) return []
  const message = 'The app may not write customers. Grant it write_customers in Shopify, and install it again.'
  return [{ code: 'permission_denied', message }]
}

/** The rows of a batch that are not sent. */
export const rejectionsBy = (rules: CustomerRules) => (batch: Batch) => readRows(rules, batch).rejected
