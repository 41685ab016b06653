import { ConnectorError } from '@penstock/connector'
import { evaluate, isEmpty, isTrue } from '@penstock/expressions/json'
import type { Answer } from '../../platform-api/call.ts'
import type { PlatformClient } from '../../platform-api/client.ts'
import { isObject } from '../../platform-api/json.ts'
import { scopeOfAnswer } from '../api/answers.ts'
import { callOf } from '../api/operation-request.ts'
import { valueIn } from '../api/records.ts'
import type { ApiServers } from '../api/servers.ts'
import type { ApiOperation, FindRequest, PreparedValue } from '../definition/definition.ts'
import type { TemplateValues } from '../definition/template.ts'

/**
 * Finds the values that an operation needs before its first request, and makes what is missing: the ID of a list by its name.
 * Throws connector errors, and `ExpressionError`.
 */
export async function prepareValues(
  { values }: Pick<ApiOperation, 'values'>,
  servers: ApiServers,
  client: PlatformClient,
  always: TemplateValues,
): Promise<Readonly<Record<string, string | number | boolean>>> {
  const value: Record<string, string | number | boolean> = {}
  for (const [name, wanted] of Object.entries(values)) {
    const known = { ...always, value }
    const found = (await foundBy(wanted, servers, client, known)) ?? (await createdBy(wanted, servers, client, known))
    if (typeof found !== 'string' && typeof found !== 'number' && typeof found !== 'boolean') {
      const what = wanted.create
        ? 'The API did not answer with it.'
        : 'Create it at the API, or correct the parameters.'
      throw new ConnectorError('object_not_found', `The value ${name} of the definition is not there. ${what}`)
    }
    value[name] = found
  }
  return value
}

async function foundBy({ find }: PreparedValue, servers: ApiServers, client: PlatformClient, known: TemplateValues) {
  if (!find) return undefined
  const isNone = ({ status }: Answer) => status === 404
  const [value] = (await valuesFound(find, servers, client, known, isNone)) ?? []
  return isEmpty(value) ? undefined : value
}

/**
 * Asks for a list. @returns the values of its entries for which the expression holds; `undefined` if the answer has no list where the
 * request says
 * @param isNone whether an answer says that there are no entries
 */
export async function valuesFound(
  find: FindRequest,
  servers: ApiServers,
  client: PlatformClient,
  known: TemplateValues,
  isNone: (answer: Answer) => boolean,
): Promise<Iterable<unknown> | undefined> {
  const answer = await client.ask({ ...callOf(servers, find, known), repeatable: true, expects: isNone })
  if (isNone(answer)) return []
  const scope = { ...known, ...scopeOfAnswer(answer, answer.json) }
  const about = (expression: string, entry: unknown) => evaluate(expression, { ...scope, entry }, Date.now())
  const at = find.at.length === 0 ? answer.json : entryAt(answer.json, find.at)
  if (!Array.isArray(at) && isEmpty(at)) return undefined
  return (function* () {
    for (const entry of Array.isArray(at) ? at : [at])
      if (isTrue(about(find.where, entry))) yield about(find.value, entry)
  })()
}

/** The value at a path; of `*` at its end, all values. */
function entryAt(json: unknown, path: readonly string[]): unknown {
  if (path.at(-1) !== '*') return valueIn(json, path)
  const values = path.length === 1 ? json : valueIn(json, path.slice(0, -1))
  return isObject(values) ? Object.values(values) : values
}

async function createdBy(
  { create }: PreparedValue,
  servers: ApiServers,
  client: PlatformClient,
  known: TemplateValues,
) {
  if (!create) return undefined
  const answer = await client.ask(callOf(servers, create, known))
  const value = evaluate(create.value, { ...known, ...scopeOfAnswer(answer, answer.json) }, Date.now())
  return isEmpty(value) ? undefined : value
}
