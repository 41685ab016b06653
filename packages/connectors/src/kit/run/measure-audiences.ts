import { type AudienceContext, type AudienceMeasure, asConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../../platform-api/client.ts'
import { numberIn, objectIn, textIn } from '../../platform-api/json.ts'
import type { AccountTarget, AudienceDestination, OpenedAudience } from '../audience-facts.ts'
import { accountOf, withApi } from './audience-account.ts'
import { findAudience } from './audience-directory.ts'
import { assertIds, openApi } from './open-api.ts'

/** Of one connection. */
const audiencesMax = 20
const statusLengthMax = 200

/** Measures the audiences that a connection feeds: its own audience, or the audiences that it found or created for its rows. */
export async function measureAudiences(
  stated: AudienceDestination,
  context: AudienceContext,
): Promise<readonly AudienceMeasure[]> {
  const facts = withApi(stated, context)
  assertIds(facts.settings, context.settings)
  const client = await openApi(context, facts.platformApi, facts.auth)
  const to = await accountOf(facts, context, client)
  const measured: AudienceMeasure[] = []
  for (const [name, id] of await audiencesOf(facts, client, to, context)) {
    const measure = await measureOne(facts, client, to, id)
    if (measure) measured.push({ id, name, ...measure })
  }
  return measured
}

async function measureOne(
  { lists }: OpenedAudience,
  client: PlatformClient,
  to: AccountTarget,
  id: string,
): Promise<Omit<AudienceMeasure, 'id' | 'name'> | undefined> {
  const { get, isThere, measure } = lists
  if (!measure) return undefined
  try {
    const answer = await client.askObject(measure.ask?.(to, id) ?? get(to, id))
    if (!measure.ask && isThere?.(answer, id) === false) return undefined
    const { size, low = size, high = size, received, matched, status } = measure.read(answer, id)
    const count = (value: unknown) => {
      const number = numberIn(value)
      return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : null
    }
    return {
      low: count(low),
      high: count(high),
      received: count(received),
      matched: count(matched),
      status: textIn(status)?.slice(0, statusLengthMax) ?? null,
    }
  } catch (error) {
    if (asConnectorError(error)?.code === 'object_not_found') return undefined
    throw error
  }
}

/** Names and IDs. The state of another account does not count. */
async function audiencesOf(
  facts: OpenedAudience,
  client: PlatformClient,
  to: AccountTarget,
  { settings, state }: AudienceContext,
): Promise<[name: string | null, id: string][]> {
  const { own = {} } = facts
  const setting = (key: string | undefined) =>
    key === undefined ? undefined : textIn(settings[key])?.trim() || undefined
  const [ownId, ownName] = [setting(own.id), setting(own.name)]
  const kept = objectIn(state).account === to.account ? objectIn(state) : {}
  const found = new Map<string, string | null>()
  const add = (id: unknown, name: string | null) => {
    const text = textIn(id)
    if (text !== undefined && facts.lists.id.test(text) && !found.has(text)) found.set(text, name)
  }
  add(ownId ?? kept.audienceId, ownName ?? null)
  if (ownId === undefined && kept.audienceId === undefined && ownName !== undefined) {
    add(await findAudience(facts, client, to, ownName), ownName)
  }
  for (const [name, id] of Object.entries(objectIn(kept.audiences)).toReversed()) add(id, name)
  return [...found].slice(0, audiencesMax).map(([id, name]) => [name, id])
}
