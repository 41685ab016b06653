import { createHash } from 'node:crypto'
import { type ConnectorContext, ConnectorError, type DestinationContext } from '@penstock/connector'
import { ExpressionError } from '@penstock/expressions/json'
import type { EventDestination } from '../../kit/event-facts.ts'
import type { Answer } from '../../platform-api/call.ts'
import type { PlatformCall } from '../../platform-api/client.ts'
import { type JsonObject, objectIn, textIn } from '../../platform-api/json.ts'
import { wrong } from '../../platform-api/rows/events.ts'
import { asSettingError, errorBy, explained, ruleOf } from '../api/api.ts'
import { credentialsOf } from '../api/credentials.ts'
import { callOf, linesOf, parametersOf } from '../api/operation-request.ts'
import { type ApiServers, serversOf } from '../api/servers.ts'
import { createShield } from '../api/shield.ts'
import type { ApiDefinition, ApiOperation } from '../definition/definition.ts'
import { fillDeep, type TemplateValues } from '../definition/template.ts'
import { httpApiPlatform } from '../platform.ts'
import { eventColumnsOf, idPath } from './operation-columns.ts'
import { openPolling } from './operation-results.ts'
import { prepareValues } from './operation-values.ts'
import { type Blamed, blamedIn, isRefused, isTaken, refusalOf, type SentRow, takenIn } from './verdicts.ts'

/** An operation by its name. Throws `invalid_setting` if the definition has none with it. */
export function operationOf({ operations }: ApiDefinition, name: unknown): ApiOperation {
  const operation = operations[String(name)]
  if (operation) return operation
  const names = Object.keys(operations).join(', ').slice(0, 500)
  const has = names === '' ? 'The definition has no operations: it is one of a source.' : `It has: ${names}.`
  throw new ConnectorError('invalid_setting', `The definition has no operation with this name. ${has}`)
}

/** A row that was read: the JSON that is sent, its ID, and its columns. */
type ReadRow = SentRow & { readonly id: string }

const readRowOf = (event: JsonObject): ReadRow => ({
  row: Array.isArray(event.row) ? event.row[0] : {},
  id: String(event.id),
  cells: objectIn(event.cells),
})

/**
 * An operation as a destination of events, and the context in which it is opened: answers come without the secrets of the
 * configuration. Throws `invalid_address` and `invalid_setting`.
 */
export function operationFacts<Context extends ConnectorContext>(
  operation: ApiOperation,
  given: Context,
): { readonly facts: EventDestination; readonly context: Context } {
  const { shield, context } = createShield(given)
  const servers = serversOf(context.secrets)
  const name = textIn(context.secrets.apiName) ?? servers.base.host
  const parameter = parametersOf(operation.parameters, context.settings.parameters)
  // The same in every attempt, so that a repeated request is the same.
  const nowMs = Date.parse((given as Partial<DestinationContext>).startedTime ?? '') || Date.now()
  const always: TemplateValues = { parameter, nowMs }
  const { result } = operation
  let value: Awaited<ReturnType<typeof prepareValues>> = {}
  const errorOf = (answer: Answer) => {
    const rule = ruleOf(operation, answer)
    return rule?.action === 'accept' || rule?.action === 'ignore' ? null : errorBy(rule, answer, name)
  }
  const seen =
    <Result>(use: (answer: Answer) => Result) =>
    (answer: Answer) =>
      use(shield.answer(answer))
  const isAccepted = seen((answer) => errorOf(answer) === null || isTaken(result, answer, always))
  /** The kit asks several times about one answer. */
  const judged = new WeakMap<Answer, Blamed | undefined>()
  const judge = (answer: Answer, sent: readonly JsonObject[]): Blamed | undefined => {
    if (!judged.has(answer)) {
      judged.set(answer, blamedIn(result.rows, shield.answer(answer), always, sent.map(readRowOf)))
    }
    return judged.get(answer)
  }
  const facts: EventDestination = {
    ...identity,
    platformApi: { name, baseUrl: '', errorOf: seen(errorOf) },
    auth: {
      open: async (one) => shield.watch(credentialsOf(one, name)) ?? { renews: false, headers: async () => ({}) },
    },
    settings: {},
    batch: { rowsMax: operation.batch.rows, bytesMax: operation.batch.bytes },
    requestMax: { events: operation.batch.rows, bytes: operation.batch.bytes },
    columns: eventColumnsOf(operation),
    finish: (event) => rowRead(operation, event, always),
    completeSettings: async (client, settings) => {
      value = await explained(() => prepareValues(operation, servers, client, always))
      return settings
    },
    request: (events) => requestOf(operation, servers, events.map(readRowOf), { ...always, value }),
    answer: {
      refuses: seen((answer) => errorOf(answer) === undefined && isRefused(result, answer)),
      refusal: seen((answer) => refusalOf(result, answer, always)),
      confirms: isAccepted,
      taken: seen((answer) => (isAccepted(answer) ? takenIn(result, answer, always) : undefined)),
      blames: (answer, sent) => judge(answer, sent)?.blamed ?? new Map(),
      results: (answer, sent) => {
        if (!isAccepted(answer)) return undefined
        const found = judge(answer, sent)
        return found && sent.map((_, place) => found.blamed.get(place))
      },
      unnamed: (answer, sent) => judge(answer, sent)?.unnamed ?? [],
    },
    ...(operation.later && {
      later: async (client, one) => openPolling(operation.later ?? raise(), servers, client, one, { shield, always }),
    }),
    probe: null,
  }
  return { facts, context }
}

function raise(): never {
  throw new Error('An operation without a later result is not asked for one')
}

/** Parts of a connector that the kit asks for, and does not use while it sends. */
const identity = {
  slug: 'http-api',
  name: 'HTTP API',
  platform: httpApiPlatform,
  dataType: 'data store',
  description: '',
  api: { version: '', ends: '' },
  secrets: {},
} as const

const hasNoKeys = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0

/** Makes what is sent of the columns of a row. */
function rowRead({ row }: ApiOperation, event: JsonObject, always: TemplateValues) {
  const { [idPath]: id, ...given } = event
  const cells = Object.fromEntries(Object.entries(given).filter(([, value]) => !hasNoKeys(value)))
  try {
    // In a list, because destinations of events leave out objects without keys.
    return { read: { id, cells, row: [row === undefined ? cells : fillDeep(row, { ...always, row: cells, id })] } }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return wrong(`An expression of the definition ${error.message}.`, Object.keys(cells)[0] ?? '')
  }
}

/** The request that sends rows. Throws connector errors. */
function requestOf(
  operation: ApiOperation,
  servers: ApiServers,
  sent: readonly ReadRow[],
  values: TemplateValues,
): PlatformCall {
  const rows = sent.map(({ row }) => row)
  const [only] = sent
  // The same rows have the same ID, also in halves: a server can recognise a repeated request by it.
  const id = createHash('sha256')
    .update(JSON.stringify(sent.map((one) => one.id)))
    .digest('hex')
    .slice(0, 32)
  const isSingle = operation.batch.rows === 1
  const known = { ...values, rows, request: { id }, ...(isSingle && only && { row: only.cells, id: only.id }) }
  try {
    // A request that deletes has no body unless the definition says so.
    const content = operation.method === 'DELETE' ? undefined : isSingle ? only?.row : rows
    const call = callOf(servers, operation, known, content)
    if (!operation.lines) return call
    const { body, headers } = linesOf(rows)
    return { ...call, body, headers: { ...headers, ...call.headers } }
  } catch (error) {
    throw asSettingError(error)
  }
}
