import { type Client, NoAnswerError, PenstockError } from '@penstock/client'
import { type ConnectorConfiguration, type Operation, type OperationId, operations } from '@penstock/wire'
import { ArgumentError, type Arguments, type CallParameters, parametersOf } from './arguments.ts'
import type { Confirmations } from './confirmation.ts'
import { isReading, type Tool, takesSecretFields } from './tools.ts'

/** Result of a tool in the protocol. */
export type ToolResult = {
  content: { type: 'text'; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
}

/** How tools are called. */
export type ToolCaller = {
  /** Every call goes through it, and so through all that an HTTP request goes through. */
  readonly client: Client
  readonly confirmations: Confirmations
  /** The public address of the console. */
  readonly publicUrl: string
  /** Asks the user. Undefined if the caller's program cannot ask. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined
}

/** Characters of an answer: a read that would be longer is refused, since it would fill the context of a model. */
const answerLengthMax = 200_000

/** Calls a tool. Errors are results that say what happened and what to do. */
export async function callTool(
  tool: Tool,
  given: Arguments,
  caller: ToolCaller,
  signal: AbortSignal,
): Promise<ToolResult> {
  try {
    const parameters = parametersOf(tool, given)
    if (takesSecretFields(tool.operation)) await refuseSecrets(parameters, caller, signal)
    if (!tool.confirmed) return answerOf(tool, parameters, await call(caller.client, tool.id, parameters, signal))
    return await callConfirmed(tool, parameters, given.confirmation, caller, signal)
  } catch (error) {
    return failed(tool, error)
  }
}

/** Any method of the client. */
type Result = { reply: unknown; etag?: string; already?: boolean; total?: number }
const call = (client: Client, id: OperationId, parameters: CallParameters, signal: AbortSignal): Promise<Result> =>
  (client[id] as unknown as (parameters: object) => Promise<Result>)({ ...parameters, signal })

/** Does it where the user has agreed, and shows what would be done otherwise. */
async function callConfirmed(
  tool: Tool,
  parameters: CallParameters,
  code: unknown,
  { client, confirmations, ask }: ToolCaller,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { id, operation } = tool
  const found = await readTarget(client, operation, parameters, signal)
  // Its If-Match is the ETag of another resource.
  const etag = operation.concurrency === 'if-match' && id !== 'removeConnector' ? found?.etag : undefined
  const confirmed = { tool: id, parameters, etag }
  if (ask && code === undefined) {
    if (!(await ask(questionOf(tool, parameters, found?.reply))))
      return error('The user declined. Nothing was changed.')
  } else if (!(await confirmations.isRight(code, confirmed))) {
    const message =
      code === undefined
        ? 'Nothing was changed yet. Show the user what would be done, and call again with the same arguments and this confirmation if they agree.'
        : 'Nothing was changed: the confirmation is too old, or for other arguments, or what it was for has changed. Show the user what would be done again.'
    return success({
      message,
      confirmation: { ...(await confirmations.make(confirmed)), target: found?.reply ?? null },
    })
  }
  const ifMatch = etag !== undefined && parameters.ifMatch === undefined ? { ifMatch: etag } : {}
  return answerOf(tool, parameters, await call(client, id, { ...parameters, ...ifMatch }, signal))
}

/** Reads the target of a write, by its path. Undefined if it cannot be read. */
async function readTarget(
  client: Client,
  { path }: Operation,
  { id, transferId, accountId, query, body }: CallParameters,
  signal: AbortSignal,
): Promise<Result | undefined> {
  // A write of one configuration of a connector names it in its query or in its body.
  const configurationId = query?.configurationId ?? (body as { configurationId?: unknown } | undefined)?.configurationId
  const reads = Object.entries<Operation>(operations).filter(
    ([, { method, list, scope }]) => method === 'GET' && !list && scope !== 'records:read',
  )
  for (let at = path; at.includes('{'); at = at.slice(0, at.lastIndexOf('/'))) {
    const read = reads.find(([, operation]) => operation.path === at)
    if (!read) continue
    const isConfiguration = configurationId !== undefined && read[1].query?.configurationId !== undefined
    const named = {
      id,
      ...(at.includes('{transferId}') ? { transferId } : {}),
      ...(accountId ? { accountId } : {}),
      ...(isConfiguration ? { query: { configurationId } } : {}),
    }
    return call(client, read[0] as OperationId, named, signal).catch((error) => {
      // The call itself will report this.
      if (error instanceof PenstockError && error.status < 500) return undefined
      throw error
    })
  }
  return undefined
}

function questionOf({ listed, id }: Tool, parameters: CallParameters, target: unknown): string {
  const about = target === undefined ? '' : `\n\nIt is done to: ${cut(JSON.stringify(target))}`
  return `${listed.title} (${id})?\n\n${cut(JSON.stringify(parameters))}${about}`
}

const questionPartLengthMax = 2_000
const cut = (text: string) => (text.length > questionPartLengthMax ? `${text.slice(0, questionPartLengthMax)}…` : text)

/** Refuses values of secret fields: the arguments of a tool are part of the conversation, and of its log. */
async function refuseSecrets(
  { id, accountId, body }: CallParameters,
  { client, publicUrl }: ToolCaller,
  signal: AbortSignal,
): Promise<void> {
  const given = (body as { secretConfig?: unknown } | undefined)?.secretConfig
  if (typeof given !== 'object' || given === null) return
  const found = await call(client, 'getConnectorConfiguration', { id, accountId }, signal)
  const secrets = (found.reply as ConnectorConfiguration).secretConfig
    .flatMap(({ configuration }) => configuration)
    .filter(({ type }) => type === 'Password')
    .map(({ name }) => name)
  const keeps = [null, '', '********'] as unknown[]
  const entered = Object.entries(given)
    .filter(([name, value]) => secrets.includes(name) && !keeps.includes(value))
    .map(([name]) => name)
  if (entered.length === 0) return
  throw new ArgumentError(
    `Nothing was saved or sent: ${entered.join(', ')} must not be entered here, because the conversation would contain it. Ask a person to open ${publicUrl}/accounts/${accountId}/connectors and enter it there, or to create a connect link there for the customer who knows it. Replace the secret if it was a real one. This tool accepts the other fields.`,
  )
}

function answerOf(tool: Tool, { query }: CallParameters, { reply, etag, already, total }: Result): ToolResult {
  const { operation } = tool
  const read = Number(query?.offset ?? 0) + (Array.isArray(reply) ? reply.length : 0)
  const answer = {
    message: (already && operation.already) || operation.done,
    response: reply,
    ...(operation.concurrency === 'etag' && etag !== undefined ? { etag } : {}),
    ...(operation.already ? { already: already === true } : {}),
    ...(operation.list === 'paged' ? { total, ...(read < (total ?? 0) ? { nextOffset: read } : {}) } : {}),
  }
  return success(answer, isReading(tool))
}

function success(answer: Record<string, unknown>, bounded = false): ToolResult {
  const text = JSON.stringify(answer)
  if (bounded && text.length > answerLengthMax) {
    return error(
      `The answer has ${text.length} characters, more than ${answerLengthMax}. Ask for less: a smaller size, or a filter.`,
    )
  }
  return { content: [{ type: 'text', text }], structuredContent: answer }
}

const error = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true })

/** @throws errors that are defects of Penstock */
function failed(tool: Tool, thrown: unknown): ToolResult {
  if (thrown instanceof PenstockError) {
    const { message, code, requestId, details, cause, retryAfterSeconds } = thrown
    return error(
      [
        message,
        ...details.map(({ field, message }) => `- ${field.replace(/^query\./, '')} ${message}`),
        ...(cause ? [`- ${cause.side}: ${cause.message} (${cause.code})`] : []),
        ...(retryAfterSeconds === undefined ? [] : [`Retry after ${retryAfterSeconds} seconds.`]),
        `Error ${code}, request ${requestId}.`,
      ].join('\n'),
    )
  }
  if (thrown instanceof NoAnswerError) {
    const unknown = isReading(tool) ? '' : ' Whether it was done is not known: read before you call it again.'
    return error(`${thrown.message}${unknown}`)
  }
  if (thrown instanceof RangeError) return error('The arguments are nested too deeply.')
  // The client refuses a path without an identifier.
  if (thrown instanceof ArgumentError || thrown instanceof TypeError) return error(thrown.message)
  throw thrown
}
