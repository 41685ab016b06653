import { createHash } from 'node:crypto'
import { type ConnectorContext, ConnectorError, type ErasePerson, type PersonIdentifier } from '@penstock/connector'
import { evaluate, isEmpty, isTrue } from '@penstock/expressions/json'
import { type Answer, isSuccess } from '../../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../../platform-api/client.ts'
import { textIn } from '../../platform-api/json.ts'
import { scopeOfAnswer } from '../api/answers.ts'
import { errorBy, explained, ruleOf } from '../api/api.ts'
import { credentialsOf } from '../api/credentials.ts'
import { callOf } from '../api/operation-request.ts'
import { paced } from '../api/pace.ts'
import { type ApiServers, serversOf } from '../api/servers.ts'
import { createShield } from '../api/shield.ts'
import type { ErasureRequest } from '../definition/definition.ts'
import { definitionOf } from '../definition/parse-definition.ts'
import type { TemplateValues } from '../definition/template.ts'
import { valuesFound } from './operation-values.ts'
import { isRefused, isTaken, refusalOf } from './verdicts.ts'

/** Entries of one person at an API, such as contacts with the same address. */
const foundMax = 100

/** Opens the erasure of a definition. Answers come without the secrets of the configuration. Throws connector errors. */
export async function openErasure(given: ConnectorContext): Promise<ErasePerson> {
  const { erasure = {}, pace } = definitionOf(given)
  const { shield, context } = createShield(given)
  const servers = serversOf(context.secrets)
  const name = textIn(context.secrets.apiName) ?? servers.base.host
  const credentials = shield.watch(credentialsOf(context, name))
  const client = openPlatform(paced(context, pace), { name, baseUrl: '', ...(credentials && { credentials }) })
  const seen = (answer: Answer) => shield.answer(answer)
  return ({ kind, value }) => {
    const request = erasure[kind]
    if (!request) throw new ConnectorError('invalid_setting', `The definition erases nobody by ${kind}.`)
    const known = { person: value, id: idOf({ kind, value }) }
    return explained(() => eraseBy(request, known, { servers, client, name, seen }))
  }
}

type Erasing = {
  readonly servers: ApiServers
  readonly client: PlatformClient
  readonly name: string
  readonly seen: (answer: Answer) => Answer
}

async function eraseBy(
  request: ErasureRequest,
  known: TemplateValues,
  { servers, client, name, seen }: Erasing,
): ReturnType<ErasePerson> {
  const { find, missing, outcome, result } = request
  const isMissing = (answer: Answer) =>
    missing !== undefined && isTrue(evaluate(missing, { ...known, ...scopeOfAnswer(answer, answer.json) }, Date.now()))
  const found = find && (await valuesFound(find, servers, client, known, (answer) => isMissing(seen(answer))))
  if (find && !found) throw new ConnectorError('malformed_response', `${name} did not answer with a list of people.`)
  const entries: unknown[] = found ? [] : [undefined]
  for (const entry of found ?? []) {
    entries.push(entry)
    if (entries.length <= foundMax && !isEmpty(entry)) continue
    throw new ConnectorError('malformed_response', `${name} answered with too many people, or with one without an ID.`)
  }
  let isErased = false
  for (const entry of entries) {
    const errorOf = (answer: Answer) => errorBy(ruleOf(request, seen(answer)), seen(answer), name)
    const isAccepted = (answer: Answer) => ruleOf(request, seen(answer))?.action === 'accept'
    const isExpected = (answer: Answer) =>
      isMissing(seen(answer)) || isAccepted(answer) || (isRefused(result, answer) && errorOf(answer) === undefined)
    const asked = { ...callOf(servers, request, { ...known, found: entry }), repeatable: true }
    const answer = await client.ask({ ...asked, expects: isExpected, errorOf })
    if (isMissing(seen(answer))) continue
    if (!isAccepted(answer) && !(isSuccess(answer) && isTaken(result, seen(answer), known))) {
      return { outcome: 'refused', reason: refusalOf(result, seen(answer), known) }
    }
    isErased = true
  }
  return { outcome: isErased ? outcome : 'notFound' }
}

/** A UUID for the demand: the same for a person on one day, so that an API recognises a repetition. */
function idOf({ kind, value }: PersonIdentifier): string {
  const day = new Date().toISOString().slice(0, 10)
  const hex = createHash('sha256')
    .update(JSON.stringify([kind, value, day]))
    .digest('hex')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5')
}
