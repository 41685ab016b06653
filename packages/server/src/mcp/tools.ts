import {
  limits,
  type Operation,
  type OperationId,
  operations,
  type Scope,
  type TSchema,
  takesIdempotencyKey,
} from '@penstock/wire'

/**
 * The tools that models are offered: every operation of the contract, except operations on secrets and on people's own
 * sessions.
 */

type Json = Record<string, unknown>

/** A tool as the protocol lists it. */
export type ListedTool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Json & { type: 'object'; properties: Json }
  readonly outputSchema: Json & { type: 'object' }
  readonly annotations: {
    readonly title: string
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

export type Tool = {
  readonly id: OperationId
  readonly operation: Operation
  readonly listed: ListedTool
  /** It changes or removes what there is, or moves data: it is done once it was confirmed. */
  readonly confirmed: boolean
}

/** Entries of a page: an answer stays in the context of a model. */
export const toolPageSizeDefault = 20
export const toolPageSizeMax = 100

/** POSTs that do not only add something: data leaves or is deleted, or a transfer stops. */
const moving: readonly OperationId[] = [
  'startTransfer',
  'replayTransfer',
  'retryTransfer',
  'cancelTransfer',
  'eraseAtDestination',
]
/** POSTs that change nothing if they are repeated. */
const repeatable: readonly OperationId[] = [
  'addConnectors',
  'cancelTransfer',
  'startTransfer',
  'retryTransfer',
  'eraseAtDestination',
]
/** Operations that contact platforms. */
const outside: readonly OperationId[] = [
  'checkConnector',
  'discoverValues',
  'askSource',
  'tryDestination',
  'previewConnection',
  'startTransfer',
  'replayTransfer',
  'retryTransfer',
  'eraseAtDestination',
]

/** Why an operation is not a tool. Undefined if it is a tool. */
export function whyNoTool(operation: Operation): string | undefined {
  const { actsIn, file, person, unrepeatable, body, reply } = operation
  if (actsIn === 'public') return 'it is for signing in'
  if (person) return 'it concerns the session of a person'
  if (file) return 'it takes a file'
  if (unrepeatable) return 'its answer is a secret or a link that is shown once'
  if (holdsSecret(reply) && !isAboutCaller(operation)) return 'its answer holds a secret'
  if (body && holdsSecret(body)) return 'it takes a secret'
  return undefined
}

/** `getMe` returns a CSRF token only to browsers, and null to callers of tools. */
const isAboutCaller = (operation: Operation): boolean => operation === operations.getMe

/** Whether a schema has a secret anywhere in it, as the contract marks them. */
function holdsSecret(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  if ((schema as Json).format === 'password') return true
  return Object.values(schema).some(holdsSecret)
}

/** Whether it accepts the fields of a configuration, which include secrets; a tool accepts only the other fields. */
export const takesSecretFields = ({ body }: Operation): boolean =>
  body !== undefined && 'secretConfig' in ((body as { properties?: object }).properties ?? {})

let all: ReadonlyMap<string, Tool> | undefined

/** Every tool by its name, which is the name of its operation. Created at the first call. */
export function tools(): ReadonlyMap<string, Tool> {
  all ??= new Map(
    Object.entries<Operation>(operations)
      .filter(([, operation]) => whyNoTool(operation) === undefined)
      .map(([name, operation]) => [name, toolOf(name as OperationId, operation)]),
  )
  return all
}

/** Whether a token with these scopes can call it. Null means every scope. */
export const isGranted = ({ operation: { scope } }: Tool, scopes: readonly Scope[] | null): boolean =>
  scope === undefined || scopes === null || scopes.includes(scope)

/** Whether it changes nothing. */
export const isReading = ({ listed }: Tool): boolean => listed.annotations.readOnlyHint

function toolOf(id: OperationId, operation: Operation): Tool {
  const { method, summary } = operation
  const readOnlyHint = method === 'GET' || operation.reads === true
  const confirmed = !readOnlyHint && (method !== 'POST' || moving.includes(id))
  return {
    id,
    operation,
    confirmed,
    listed: {
      name: id,
      title: summary,
      description: descriptionOf(operation, confirmed),
      inputSchema: inputSchemaOf(operation, confirmed),
      outputSchema: outputSchemaOf(operation, confirmed),
      annotations: {
        title: summary,
        readOnlyHint,
        destructiveHint: confirmed,
        idempotentHint: readOnlyHint || method !== 'POST' || repeatable.includes(id),
        openWorldHint: outside.includes(id),
      },
    },
  }
}

function descriptionOf(operation: Operation, confirmed: boolean): string {
  const { summary, description, exactlyOne } = operation
  return [
    `${summary}. ${description}`,
    exactlyOne && `Give exactly one of ${exactlyOne.join(' and ')}.`,
    takesSecretFields(operation) &&
      'Never put a secret (a field of the type Password) here: it would be in this conversation. Secrets are refused, and the answer names the page on which a person enters them.',
    confirmed &&
      'The first call changes nothing and answers what would be done with a `confirmation`. Show that to the user, and call again with the same arguments and the confirmation if they agree.',
  ]
    .filter(Boolean)
    .join(' ')
}

/** The names of the arguments that a tool has in addition to the body of its operation. */
export const pathNames = ({ path }: Operation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
export const takesAccount = ({ actsIn }: Operation): boolean => actsIn.includes('account')
export const headerNames = (operation: Operation): string[] => [
  ...(operation.concurrency === 'if-match' ? ['ifMatch'] : []),
  ...(takesIdempotencyKey(operation) ? ['idempotencyKey'] : []),
]

const idPattern = '^[0-9a-f]{16}$'
const idText = (description: string): Json => ({ type: 'string', description })
const pathTexts: Readonly<Record<string, string>> = {
  id: 'Identifier of what the tool is about',
  transferId: 'Identifier of the transfer',
}

function inputSchemaOf(operation: Operation, confirmed: boolean): ListedTool['inputSchema'] {
  const { actsIn, query = {}, body } = operation
  const named = pathNames(operation)
  const properties: Json = Object.fromEntries(
    named.map((name) => [name, idText(pathTexts[name] ?? `Identifier: ${name}`)]),
  )
  if (takesAccount(operation)) {
    const without = actsIn === 'account' ? '' : '. Left out: every sub-account that you may see'
    properties.accountId = { type: 'string', pattern: idPattern, description: `The sub-account to act in${without}` }
  }
  for (const [name, schema] of Object.entries(query)) properties[name] = plainOf(schema)
  if (operation.list === 'paged') {
    const size = { default: toolPageSizeDefault, maximum: Math.min(toolPageSizeMax, limits.pageSizeMax) }
    properties.size = { ...(properties.size as Json), ...size }
  }
  if (body) properties.body = plainOf(body)
  for (const name of headerNames(operation)) properties[name] = { type: 'string', description: headerTexts[name] }
  if (confirmed) {
    const description = 'The code that the first call answered, once the user has agreed'
    properties.confirmation = { type: 'string', description }
  }
  const required = [
    ...named,
    ...(actsIn === 'account' ? ['accountId'] : []),
    ...(body && needsBody(body) ? ['body'] : []),
  ]
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false }
}

const headerTexts: Readonly<Record<string, string>> = {
  ifMatch: 'The `etag` that you read. If it has changed, the call is refused',
  idempotencyKey: 'A text of your choice, new for each new call: a call that is repeated with it does its work once',
}

/** Whether the body must contain something. A body without required fields can be omitted. */
export const needsBody = (body: TSchema): boolean => 'required' in body || 'minProperties' in body

function outputSchemaOf(
  { reply, list, concurrency, already }: Operation,
  confirmed: boolean,
): ListedTool['outputSchema'] {
  const response = plainOf(reply, ['examples', 'description'])
  const text = { type: 'string' }
  const integer = { type: 'integer' }
  const properties: Json = {
    message: { ...text, description: 'What happened' },
    response: list ? { type: 'array', items: response } : response,
    ...(concurrency === 'etag' ? { etag: { ...text, description: 'The version of what was read' } } : {}),
    ...(already ? { already: { type: 'boolean', description: 'Nothing new was begun: it was active' } } : {}),
    ...(list === 'paged'
      ? {
          total: {
            ...integer,
            description: 'Entries of the whole list. In a search for connections, 10,000 is a minimum',
          },
          nextOffset: { ...integer, description: 'The `offset` of the next page; absent on the last one' },
        }
      : {}),
    ...(confirmed
      ? {
          confirmation: {
            type: 'object',
            description: 'Nothing was done yet: what to send to do it, and what it would be done to',
            properties: { code: text, expiresTime: integer, target: { description: 'As it is now' } },
            required: ['code', 'expiresTime'],
          },
        }
      : {}),
  }
  return { type: 'object', properties, required: confirmed ? ['message'] : ['message', 'response'] }
}

const holdsSchemas: readonly string[] = ['properties', 'patternProperties']

/** A schema as plain JSON without what would fill the context of a model: its examples and, of answers, its descriptions. */
function plainOf(schema: object, without: readonly string[] = ['examples']): Json {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside)
    return typeof value === 'object' && value !== null ? plainOf(value, without) : value
  }
  const named = (schemas: object) =>
    Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, inside(one)]))
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !without.includes(keyword))
      .map(([keyword, value]) => [keyword, holdsSchemas.includes(keyword) ? named(value) : inside(value)]),
  )
}
