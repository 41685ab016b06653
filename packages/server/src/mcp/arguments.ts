import type { Operation } from '@penstock/wire'
import {
  headerNames,
  needsBody,
  pathNames,
  type Tool,
  takesAccount,
  toolPageSizeDefault,
  toolPageSizeMax,
} from './tools.ts'

/** Converts the arguments of a tool to the parameters of its operation. The service validates them. */

export type Arguments = Readonly<Record<string, unknown>>

/** The parameters of a method of the typed client. */
export type CallParameters = {
  readonly [name: string]: unknown
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** The arguments cannot be sent. The message says which argument is wrong, and what to do. */
export class ArgumentError extends Error {}

/** Characters of an argument that travels in an address or a header. */
const textLengthMax = 4_096
const headerText = /^[\x20-\x7e]{1,1024}$/

/** @throws ArgumentError for what the service could not even be asked */
export function parametersOf({ operation, confirmed }: Tool, given: Arguments): CallParameters {
  const known = [
    ...pathNames(operation),
    ...(takesAccount(operation) ? ['accountId'] : []),
    ...Object.keys(operation.query ?? {}),
    ...(operation.body ? ['body'] : []),
    ...headerNames(operation),
    ...(confirmed ? ['confirmation'] : []),
  ]
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const names = known.length > 0 ? `Known arguments: ${known.join(', ')}` : 'This tool takes no arguments'
    throw new ArgumentError(`${shown(unknown)} is unknown. ${names}.`)
  }
  const parameters: Record<string, unknown> = {}
  for (const name of pathNames(operation)) parameters[name] = textOf(name, given[name] ?? missing(name))
  if (takesAccount(operation)) {
    if (isGiven(given.accountId)) parameters.accountId = textOf('accountId', given.accountId)
    else if (operation.actsIn === 'account') missing('accountId')
  }
  for (const name of headerNames(operation)) {
    if (!isGiven(given[name])) continue
    const text = textOf(name, given[name])
    if (!headerText.test(text)) throw new ArgumentError(`${name} must be 1 to 1024 visible ASCII characters.`)
    parameters[name] = name === 'ifMatch' ? quoted(text) : text
  }
  return {
    ...parameters,
    ...(operation.query ? { query: queryOf(operation, given) } : {}),
    ...(operation.body ? { body: isGiven(given.body) || needsBody(operation.body) ? given.body : {} } : {}),
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null
const missing = (name: string): never => {
  throw new ArgumentError(`${name} is missing.`)
}
const shown = (name: string) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)

/** An argument as it travels in an address: a text, however wrong. */
function textOf(name: string, value: unknown): string {
  if (typeof value === 'object' && value !== null)
    throw new ArgumentError(`${name} must be text, a number, true or false.`)
  const text = String(value)
  if (text.length > textLengthMax) throw new ArgumentError(`${name} must have at most ${textLengthMax} characters.`)
  return text.toWellFormed()
}

function queryOf({ query = {}, list }: Operation, given: Arguments): Record<string, unknown> {
  const texts: Record<string, unknown> = {}
  for (const name of Object.keys(query)) if (isGiven(given[name])) texts[name] = textOf(name, given[name])
  if (list !== 'paged') return texts
  if (Number(texts.size) > toolPageSizeMax) {
    throw new ArgumentError(`size must be at most ${toolPageSizeMax}: read further pages with offset.`)
  }
  return { size: toolPageSizeDefault, ...texts }
}

/** An ETag, however the caller writes it. */
const quoted = (etag: string) => (/^(?:"|W\/|\*)/.test(etag) ? etag : `"${etag}"`)
