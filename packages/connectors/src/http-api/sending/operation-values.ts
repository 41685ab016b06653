import { ConnectorError } from '@penstock/connector'
import { evaluate, isEmpty, isTrue } from '@penstock/expressions/json'
import type { PlatformClient } from '../../platform-api/client.ts'
import { scopeOfAnswer } from '../api/answers.ts'
import { callOf } from '../api/operation-request.ts'
import { valueIn } from '../api/records.ts'
import type { ApiServers } from '../api/servers.ts'
import type { ApiOperation, PreparedValue } from '../definition/definition.ts'
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
  const answer = await client.ask({
    ...callOf(servers, find, known),
    repeatable: true,
    expects: ({ status }) => status === 404,
  })
  if (answer.status === 404) return undefined
  const entries = find.at.length === 0 ? answer.json : valueIn(answer.json, find.at)
  const scope = { ...known, ...scopeOfAnswer(answer, answer.json) }
  const list = Array.isArray(entries) ? entries : isEmpty(entries) ? [] : [entries]
  const entry = list.find((one) => isTrue(evaluate(find.where, { ...scope, entry: one }, Date.now())))
  if (entry === undefined) return undefined
  const value = evaluate(find.value, { ...scope, entry }, Date.now())
  return isEmpty(value) ? undefined : value
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
