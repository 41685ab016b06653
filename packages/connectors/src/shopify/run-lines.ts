import { createHash } from 'node:crypto'
import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { call, isSuccess } from '../platform-api/call.ts'
import { listIn, numberIn, objectIn, parseJson, textIn } from '../platform-api/json.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'
import {
  awaitOperation,
  type BulkEnd,
  type BulkOperation,
  cancelOperation,
  documents,
  findOperation,
  httpsAddress,
  linesOf,
  openResult,
  startOperation,
} from './bulk-operations.ts'
import { type CustomerStep, resultOf, type StepResult, unreportedReason } from './customer-steps.ts'
import type { Shopify } from './sign-in.ts'

/** Bulk mutations of one writer. */
export type Mutations = {
  readonly shopify: Shopify
  readonly context: ConnectorContext
  /** How long to wait for an operation, in milliseconds. */
  readonly totalMs: number
}

/** Variables of a mutation, as JSON. @property at of the customer */
export type MutationLine = { readonly at: number; readonly text: string }

type Results = ReadonlyMap<number, Exclude<StepResult, 'again'>>

/** How often customers are sent that Shopify has no result for. */
const attemptsMax = 3
const scopes = 'write_customers'

/**
 * Runs a mutation for each line, in a separate operation. Lines without a result are sent again, and rejected if Shopify still
 * returns no result for them. Throws `platform_error` if it returns no result for any line.
 * @param seed determines the name of the operation, together with the lines
 * @param looks whether an operation of an earlier attempt can have the lines
 */
export async function runLines(
  mutations: Mutations,
  step: CustomerStep,
  seed: string,
  lines: readonly MutationLine[],
  looks: boolean,
): Promise<Once> {
  const results = new Map<number, Exclude<StepResult, 'again'>>()
  let bytes = 0
  let left = lines
  for (let attempt = 1; left.length > 0; attempt++) {
    const sent = await runOnce(mutations, step, `${seed} ${attempt}`, left, looks)
    bytes += sent.bytes
    for (const [at, result] of sent.results) results.set(at, result)
    const again = left.filter(({ at }) => !results.has(at))
    if (again.length > 0 && attempt === attemptsMax) {
      if (results.size === 0) {
        throw new ConnectorError('platform_error', 'Shopify has an internal error with every row of the batch.')
      }
      for (const { at } of again) results.set(at, { reason: unreportedReason(step) })
      break
    }
    left = again
  }
  return { results, bytes }
}

type Once = { readonly results: Results; readonly bytes: number }

async function runOnce(
  mutations: Mutations,
  step: CustomerStep,
  seed: string,
  lines: readonly MutationLine[],
  looks: boolean,
): Promise<Once> {
  const file = lines.map(({ text }) => `${text}\n`).join('')
  const name = `penstock_${createHash('sha256').update(`${seed}\n${file}`).digest('hex').slice(0, 32)}`
  const earlier = looks ? await resultsOfEarlier(mutations, step, name, lines) : undefined
  if (earlier) return { results: earlier, bytes: 0 }
  const path = await upload(mutations, file)
  const operation = await startOperation(mutations.shopify, { kind: 'mutation', text: step.text(name), name, path })
  const end = await endOf(mutations, operation)
  if (end.state === 'failed') throw end.error
  if (end.state === 'gone') throw expired()
  return { results: await readResults(mutations, step, end.operation, lines), bytes: Buffer.byteLength(file) }
}

/** The results of an operation of an earlier attempt. `undefined` if there was no such operation, or it failed. */
async function resultsOfEarlier(
  mutations: Mutations,
  step: CustomerStep,
  name: string,
  lines: readonly MutationLine[],
): Promise<Results | undefined> {
  const found = await findOperation(mutations.shopify, 'mutation', name, 0)
  if (!found) return undefined
  const end = await endOf(mutations, found)
  if (end.state !== 'done') return undefined
  try {
    return await readResults(mutations, step, end.operation, lines)
  } catch (error) {
    if (asConnectorError(error)?.code === 'result_expired') return undefined
    throw error
  }
}

/** The results of the lines that Shopify reports one for. */
async function readResults(
  { context }: Mutations,
  step: CustomerStep,
  { url }: BulkOperation,
  lines: readonly MutationLine[],
): Promise<Results> {
  const results = new Map<number, Exclude<StepResult, 'again'>>()
  if (url === undefined) return results
  const { bytes, at } = await openResult(context, url)
  for await (const group of linesOf(bytes, at, 0, parseJson)) {
    for (const { item } of group) {
      const line = lines[numberIn(item.__lineNumber) ?? -1]
      const result = line && resultOf(step, item)
      if (line && result && result !== 'again') results.set(line.at, result)
    }
  }
  return results
}

const expired = () =>
  new ConnectorError('result_expired', 'Shopify does not have the result of the bulk operation any more.')

/** Waits for an operation. If the work is stopped, so is the operation. */
async function endOf({ shopify, totalMs }: Mutations, { id }: BulkOperation): Promise<BulkEnd> {
  try {
    return await awaitOperation(shopify, id, { totalMs, scopes })
  } catch (error) {
    if (shopify.signal.aborted) await cancelOperation(shopify, id)
    throw error
  }
}

/** Uploads the lines where Shopify says, and resolves with the path of the file. */
async function upload({ shopify, context }: Mutations, file: string): Promise<string> {
  const input = [
    { resource: 'BULK_MUTATION_VARIABLES', filename: 'rows.jsonl', mimeType: 'text/jsonl', httpMethod: 'POST' },
  ]
  const { data } = await shopify.ask(documents.stage, { input })
  const [target] = listIn(objectIn(data.stagedUploadsCreate).stagedTargets).map(objectIn)
  const fields = listIn(target?.parameters).map(objectIn)
  const parts = fields.flatMap(({ name, value }) => {
    const key = textIn(name)
    return key === undefined || typeof value !== 'string' ? [] : [{ name: key, content: value }]
  })
  const path = parts.find(({ name }) => name === 'key')?.content
  if (path === undefined || parts.length !== fields.length) {
    throw new ConnectorError('malformed_response', 'Shopify did not say where to upload the rows.')
  }
  const answer = await call(context, {
    url: httpsAddress(textIn(target?.url) ?? '').href,
    method: 'POST',
    parts: [...parts, { name: 'file', content: file, fileName: 'rows.jsonl', type: 'text/jsonl' }],
  })
  if (isSuccess(answer)) return path
  const { status, text } = answer
  const message = `The storage of Shopify did not accept the file with the rows (status ${status}).`
  if (status === 413 || text.includes('EntityTooLarge')) throw new ConnectorError('batch_too_large', message)
  if (status === 429) throw new ConnectorError('rate_limited', message, { afterMs: waitMsOf(answer) })
  throw new ConnectorError('platform_error', message, { afterMs: waitMsOf(answer) })
}
