import {
  type Batch,
  type CheckStep,
  type ConnectorContext,
  ConnectorError,
  checkSteps,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type Json,
  type Rejection,
  type Values,
} from '@penstock/connector'
import { type Answer, assertConnectivity } from '../../platform-api/call.ts'
import { type JsonObject, textIn } from '../../platform-api/json.ts'
import { answerAbout } from '../../platform-api/rows/answers.ts'
import { type RowEvent, readEvents } from '../../platform-api/rows/events.ts'
import { sendInHalves, type Taken } from '../../platform-api/rows/halving.ts'
import { Refusals } from '../../platform-api/rows/refusals.ts'
import { countsOf } from '../../platform-api/rows/row-results.ts'
import type { RestApi } from '../api.ts'
import type { Completion, EventDestination, EventTarget, WhyNot } from '../event-facts.ts'
import { assertIds, credentialsOf, errorOf, openApi, quoted } from './open-api.ts'
import { assertSettings, eventReader, type ReadEvent } from './read-event.ts'

type Event = RowEvent<ReadEvent>
type TargetOf = Pick<EventTarget, 'target' | 'id'>

const apiOf = ({ platformApi }: EventDestination, context: ConnectorContext): RestApi =>
  typeof platformApi === 'function' ? platformApi(context) : platformApi
const noTarget: TargetOf = { target: undefined, id: undefined }

/** Opens a writer that sends events by the facts of a destination. Throws connector errors. */
export async function openEvents(facts: EventDestination, context: DestinationContext): Promise<DestinationWriter> {
  assertSettings(facts, context.settings, context.columns)
  const { send, later } = await openSending(facts, { isProbe: false, context })
  const reading = cachedOf(async () => readingOf(facts, context, await facts.lookUp?.(context)))
  const refusals = new Refusals(apiOf(facts, context).name)
  const writer: DestinationWriter = {
    async deliver(batch) {
      const { events, rejected } = (await reading())(batch)
      let bytes = 0
      const answers: (Json | null)[] = new Array(batch.rows.length).fill(null)
      const byTarget = Map.groupBy(events, ({ event }) => event.target)
      const isAnyTarget = facts.targets !== undefined && facts.targets.settings === undefined
      for (const target of isAnyTarget ? byTarget.keys() : targetsOf(facts)) {
        const some = byTarget.get(target) ?? []
        const to = targetOf(facts, context.settings, target)
        for (const request of requestsOf(facts, some, context.settings)) {
          const sent = await sendInHalves(request, refusals, (part) => send(part, to, answers))
          bytes += sent.bytes
          rejected.push(...sent.rejected)
        }
      }
      return { bytes, rejected, ...(answers.some((one) => one !== null) && { answers }) }
    },
  }
  return later?.writer(writer) ?? writer
}

/** The events of a batch by the requests in which they are sent. */
function requestsOf(
  facts: EventDestination,
  events: readonly Event[],
  settings: Values,
): readonly (readonly Event[])[] {
  const requestMax = typeof facts.requestMax === 'function' ? facts.requestMax(settings) : facts.requestMax
  if (!requestMax) return [events]
  const requests: Event[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const one of events) {
    const size = Buffer.byteLength(JSON.stringify(one.event.event))
    const last = requests.at(-1)
    if (last && last.length < requestMax.events && bytes + size <= requestMax.bytes) last.push(one)
    else requests.push([one])
    bytes = requests.at(-1)?.length === 1 ? size : bytes + size
  }
  return requests
}

/** Loads something once. After an error, it is loaded again. */
function cachedOf<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return async () => {
    try {
      loading ??= load()
      return await loading
    } catch (error) {
      loading = undefined
      throw error
    }
  }
}

/** Makes the function that finds the rows of which no event can be made, without the platform. */
export async function rejectionsOf(
  facts: EventDestination,
  context: Pick<DestinationContext, 'settings' | 'secrets'>,
): Promise<(batch: Batch) => readonly Rejection[]> {
  const read = readingOf(facts, context)
  return (batch) => read(batch).rejected
}

/** Reads the rows of a batch. Rows without a place to go are rejected, too. */
function readingOf(
  facts: EventDestination,
  { settings, secrets }: Pick<DestinationContext, 'settings' | 'secrets'>,
  complete?: Completion,
) {
  const { name } = apiOf(facts, { settings, secrets } as ConnectorContext)
  const read = eventReader({ ...facts, platformName: name, complete })
  return (batch: Batch): { events: Event[]; rejected: Rejection[] } => {
    const { events, rejected } = readEvents(batch, (row) => read(batch, row, settings))
    const { targets } = facts
    if (!targets?.settings) return { events, rejected }
    const going = events.filter(({ index, event: { target = '' } }) => {
      const setting = targets.settings?.[target]
      if (setting === null || targetOf(facts, settings, target).id !== undefined) return true
      const label = setting?.[1] ?? target
      const reason = `Events of this kind need the setting “${label}” of the connection.`
      rejected.push({ index, reason, field: targets.field })
      return false
    })
    return { events: going, rejected }
  }
}

const targetsOf = ({ targets }: EventDestination): readonly (string | undefined)[] =>
  targets?.settings ? Object.keys(targets.settings) : [undefined]

function targetOf({ targets }: EventDestination, settings: Values, target: string | undefined): TargetOf {
  if (!targets || target === undefined) return noTarget
  if (!targets.settings) return { target, id: target }
  const [key = ''] = targets.settings[target] ?? []
  return { target, id: textIn(settings[key])?.trim() || undefined }
}

type Blames = (answer: Answer) => ReadonlyMap<number, WhyNot>
type Use =
  | { readonly isProbe: true; readonly context: ConnectorContext }
  | { readonly isProbe: false; readonly context: DestinationContext }

/** Makes the function that sends some events and resolves with their results, and opens what becomes of them later. */
async function openSending(facts: EventDestination, use: Use) {
  const { context, isProbe } = use
  const { answer: says, request, settings: fields } = facts
  const api = apiOf(facts, context)
  const { settings, secrets } = context
  assertIds(fields, settings)
  let completed = facts.completeSettings ? undefined : settings
  const client = await openApi(context, api, facts.auth)
  const later = use.isProbe ? undefined : await facts.later?.(client, use.context)
  const isRefusal = (answer: Answer, blames: Blames): boolean => {
    const { refuses = [] } = says
    if (refuses === 'blamed') return blames(answer).size > 0
    return typeof refuses === 'function'
      ? refuses(answer) || errorOf(api, answer)?.code === 'invalid_batch'
      : refuses.includes(answer.status) && (errorOf(api, answer)?.code ?? 'invalid_batch') === 'invalid_batch'
  }

  return { send, later }

  /** @param answers gets what the platform answers about each event, by the index of its row */
  async function send(
    events: readonly Event[],
    to: TargetOf,
    answers: (Json | null)[] = [],
    isAgain = false,
  ): Promise<Taken<Event>> {
    const bodies = events.map(({ event }) => event.event)
    completed ??= (await facts.completeSettings?.(client, settings)) ?? settings
    const target = { settings: completed, secrets, isProbe, ...to }
    const asked = request(bodies, target)
    const blames: Blames = (answer) => says.blames?.(answer, bodies, target) ?? new Map()
    const hasResults = (answer: Answer) => says.results?.(answer, bodies, target) !== undefined
    const blamedBy = (whyNot: (place: number) => WhyNot | undefined) =>
      events.flatMap((item, place) => {
        const why = whyNot(place)
        if (why === undefined) return []
        return [{ item, again: false, ...(typeof why === 'string' ? { reason: why } : why) }]
      })
    const answer = await client.ask({
      method: 'POST',
      ...asked,
      expects: (one) => isRefusal(one, blames) || (one.status < 500 && hasResults(one)),
    })
    const { bytesSent: bytes } = answer
    const about = answerAbout(answer)
    if (about !== null) for (const { index } of events) answers[index] = about
    const results = says.results?.(answer, bodies, target)
    if (results) {
      const notTaken = blamedBy((place) => results[place])
      const failed = notTaken.filter(({ again }) => again).map(({ item }) => item)
      const blamed = notTaken.filter(({ again }) => !again)
      const unnamed = says.unnamed?.(answer, bodies).slice(0, events.length - blamed.length) ?? []
      const uncounted = countsOf(unnamed)
      if (failed.length === 0) return { bytes, blamed, uncounted }
      const second = isAgain ? undefined : await send(failed, to, answers, true)
      if (second && second.refused === undefined) {
        return { bytes: bytes + second.bytes, blamed: [...blamed, ...(second.blamed ?? [])], uncounted }
      }
      throw new ConnectorError('platform_error', `${api.name} has an internal error with some events.`)
    }
    if (isRefusal(answer, blames)) {
      const named = blames(answer)
      const { refusal = `${api.name} does not accept the event` } = says
      const refused = typeof refusal === 'function' ? refusal(answer) : `${refusal} (${quoted(api, answer)}).`
      return { bytes, refused, blamed: blamedBy((place) => named.get(place)) }
    }
    const taken = says.taken?.(answer)
    if (taken !== undefined && taken < events.length) {
      return { bytes, uncounted: [{ count: events.length - taken, reason: notCounted(api) }] }
    }
    if (taken !== undefined || says.confirms?.(answer, events.length)) {
      later?.accepted(
        answer,
        events.map(({ index }) => ({ rows: [index] })),
      )
      return { bytes }
    }
    throw new ConnectorError('malformed_response', `${api.name} did not report the result of the request.`)
  }
}

const notCounted = ({ name }: RestApi): string => `${name} did not accept the events, and does not report which.`

/** Tries the settings of the connection, so that the platform records nothing. */
async function probe(facts: EventDestination, context: ConnectorContext): Promise<string> {
  const { names = 'object of the platform', credentials = 'credentials' } = facts.probe ?? {}
  if (!namesAny(facts, context.settings)) {
    return `The check needs a connection with a ${names}.`
  }
  await sendProbe(facts, context)
  return `The ${credentials} can send data.`
}

const namesAny = ({ settings, targets, probe }: EventDestination, values: Values): boolean => {
  if (probe?.needs) return probe.needs.every((key) => values[key] !== undefined)
  const keys = targets?.settings
    ? Object.values(targets.settings).flatMap((one) => one?.[0] ?? [])
    : Object.keys(settings).filter((key) => 'pattern' in (settings[key] ?? {}))
  return keys.length === 0 || keys.some((key) => values[key] !== undefined)
}

async function sendProbe(facts: EventDestination, context: ConnectorContext): Promise<void> {
  const { send } = await openSending(facts, { isProbe: true, context })
  const bodies: readonly JsonObject[] = facts.probe?.events?.() ?? []
  for (const target of targetsOf(facts)) {
    const to = targetOf(facts, context.settings, target)
    if (target !== undefined && to.id === undefined) continue
    const answer = await send(
      bodies.map((event, index) => ({ index, event: { event, target } })),
      to,
    ).catch((error: unknown) => {
      // Of no events, nothing can be reported.
      if (bodies.length > 0 || !(error instanceof ConnectorError) || error.code !== 'malformed_response') throw error
      return undefined
    })
    if (bodies.length > 0 && answer?.refused !== undefined && !facts.probe?.mayBeRefused) {
      throw new ConnectorError('unexpected_response', answer.refused)
    }
  }
}

/** Whether a connector that is also a source has none of the secrets that only its destination needs. */
function isSourceOnly({ secrets: fields }: EventDestination, { secrets }: ConnectorContext): boolean {
  const own = Object.entries(fields).filter(([, { role, required }]) => role === 'Destination' && required)
  return own.length > 0 && own.every(([key]) => textIn(secrets[key]) === undefined)
}

/** Tries the credentials, whichever objects the connection names. */
async function tryCredentials(facts: EventDestination, context: ConnectorContext): Promise<void> {
  const { stranger = {}, exchanges } = facts.probe ?? {}
  if (exchanges) {
    await (await credentialsOf(context, apiOf(facts, context), facts.auth)).headers()
    return
  }
  try {
    await sendProbe(facts, { ...context, settings: { ...context.settings, ...stranger } })
  } catch (error) {
    if (!(error instanceof ConnectorError) || !objectErrors.includes(error.code)) throw error
  }
}

/** Errors about an object of no one, which a platform reports once it knows the credentials. */
const objectErrors = ['permission_denied', 'object_not_found', 'malformed_response', 'unexpected_response']

/** The check of a destination of events: whether the platform answers, knows the credentials, and would take events. */
export const checkEvents = (facts: EventDestination, context: ConnectorContext): Promise<readonly CheckStep[]> => {
  const { sourceCheck } = facts
  if (sourceCheck?.isMeant(context) || (sourceCheck && isSourceOnly(facts, context))) return sourceCheck.check(context)
  return checkSteps(
    ['connectivity', (one) => assertConnectivity(one, `${new URL(apiOf(facts, one).baseUrl).origin}/`)],
    [
      'authentication',
      async (one) => {
        const { stranger, exchanges, credentials = 'credentials', names = 'object of the platform' } = facts.probe ?? {}
        const { name } = apiOf(facts, one)
        if (facts.probe === null) return `${name} can check the credentials only with an event. No event was sent.`
        if (!stranger && !exchanges && !namesAny(facts, one.settings)) {
          return `The check needs a connection with a ${names}.`
        }
        await tryCredentials(facts, one)
        return `${name} accepts the ${credentials}.`
      },
    ],
    ...(facts.probe === null ? [] : [['permissions', (one: ConnectorContext) => probe(facts, one)] as const]),
  )(context)
}

/** The inspection before a transfer: the settings, and the step of the check that tries them at the platform. */
export async function inspectEvents(facts: EventDestination, context: InspectionContext): Promise<readonly Finding[]> {
  assertSettings(facts, context.settings, context.columns)
  assertIds(facts.settings, context.settings)
  if (facts.inspect) return facts.inspect(context)
  const { targets } = facts
  if (targets?.settings && !namesAny(facts, context.settings)) {
    const labels = new Set(Object.values(targets.settings).flatMap((one) => (one ? [`“${one[1]}”`] : [])))
    throw new ConnectorError('invalid_setting', `Set ${[...labels].join(' or ')} in the connection.`)
  }
  await probe(facts, context)
  return []
}
