import {
  type Batch,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Json,
  type Rejection,
} from '@penstock/connector'
import { type Changes, groupMemberships, type Membership } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { accountPath, openDirectory } from './audience-directory.ts'
import { identityOf, type Person, pageScopedColumn, readAudienceRows, schemaOf, valueColumn } from './audience-rows.ts'
import { type Graph, openGraph } from './graph.ts'
import { type Pages, type ReplaceOptions, ReplaceSession } from './replace-session.ts'

export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { secrets, settings, state, transferId, columns, deliveryStates } = context
  const graph = openGraph(context)
  const origin = settings.audienceSource === undefined ? '' : `, from ${settings.audienceSource}`
  const account = accountPath(settings.advertiserId)
  const directory = openDirectory(graph, account, `Kept by Penstock${origin}`, columns.includes(valueColumn))
  const pages = pagesOf(columns, settings.pageId)
  const audiences = new NamedAudiences(state, account, `Penstock ${transferId}`, directory)
  if (settings.replaceExistingAudience === true) {
    const secret = String(secrets.accessToken ?? '')
    return replacing(audiences, deliveryStates, { graph, transferId, secret, schema: schemaOf(columns), pages })
  }
  return changing(graph, audiences, pages)
}

/** Which page the IDs belong to that people have for one; nothing where there are no such IDs. */
function pagesOf(columns: readonly string[], pageId: unknown): Pages {
  if (!columns.includes(pageScopedColumn)) return {}
  const id = String(pageId ?? '').trim()
  if (/^\d+$/.test(id)) return { page_ids: [id] }
  const message = 'Page-scoped IDs need the setting “Page ID”, the number of the page at Meta that they belong to.'
  throw new ConnectorError('invalid_setting', message)
}

/** Adds and removes members: each batch counts at once, and again makes no difference. */
function changing(graph: Graph, audiences: NamedAudiences, pages: Pages): DestinationWriter {
  const refusals = new Refusals('Meta')
  return {
    async deliver(batch) {
      const { memberships, rejected } = await assign(batch, audiences, false)
      const schema = schemaOf(batch.columns)
      let bytes = 0
      for (const changes of groupMemberships(memberships)) {
        const sent = await refusals.count(() => send(graph, schema, pages, changes))
        bytes += sent.bytes
        rejected.push(...sent.rejected)
      }
      return { bytes, rejected, ...audiences.delivered() }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

async function send(
  graph: Graph,
  schema: readonly string[],
  pages: Pages,
  { audience, verb, changes }: Changes<Person>,
): Promise<{ bytes: number; rejected: Rejection[] }> {
  const body = { payload: { schema, data: changes.map(({ member }) => member), ...pages } }
  const path = `${audience}/users`
  const { json, bytesSent } = await (verb === 'add' ? graph.post(path, body) : graph.delete(path, body))
  const received = numberIn(json.num_received) ?? changes.length
  const unseen = Math.max(0, changes.length - received)
  const count = Math.min(changes.length, unseen + (numberIn(json.num_invalid_entries) ?? 0))
  return { bytes: bytesSent, rejected: unusable(count) }
}

/** Replaces members: Meta exchanges them when the transfer is finished. */
function replacing(
  audiences: NamedAudiences,
  deliveryStates: readonly Json[],
  options: ReplaceOptions,
): DestinationWriter {
  const sessions = new Map<string, ReplaceSession>()
  const refusals = new Refusals('Meta')
  const sessionOf = (audience: string) => {
    const session = sessions.get(audience) ?? new ReplaceSession(options, audience)
    sessions.set(audience, session)
    return session
  }
  for (const each of deliveryStates.flatMap((deliveryState) => listIn(objectIn(deliveryState).sessions))) {
    const audience = textIn(objectIn(each).audience)
    if (audience !== undefined) sessionOf(audience).resume(each)
  }
  return {
    async deliver(batch) {
      const { memberships, rejected } = await assign(batch, audiences, true)
      const parts: Json[] = []
      let bytes = 0
      let invalid = 0
      for (const { audience, changes } of groupMemberships(memberships)) {
        const people = changes.map(({ member }) => member)
        const sent = await refusals.count(() => sessionOf(audience).send(batch.key, people))
        bytes += sent.bytes
        invalid += sent.invalid
        parts.push(sent.deliveryState)
      }
      return {
        bytes,
        rejected: [...rejected, ...unusable(invalid)],
        deliveryState: { sessions: parts },
        ...audiences.delivered(),
      }
    },
    flush: async () => undefined,
    async finish() {
      for (const session of sessions.values()) await session.close()
    },
    // Meta forgets a session whose last batch never comes, and the audience stays as it was.
    abort: async () => {},
    close: async () => {},
  }
}

const unusable = (count: number): Rejection[] =>
  count > 0 ? [{ count, reason: 'Meta could not use the identifiers; it does not report the rows.' }] : []

/** Says for each row which audience it changes, and finds or makes the audiences for that. */
async function assign(
  batch: Batch,
  audiences: NamedAudiences,
  replaces: boolean,
): Promise<{ memberships: Membership<Person>[]; rejected: Rejection[] }> {
  const { rows, rejected } = readAudienceRows(batch, replaces)
  const ids = await audiences.idsOf(rows)
  const memberships: Membership<Person>[] = []
  for (const { index, segmentId, segmentName, verb, person } of rows) {
    const audience = segmentId ?? ids.get(segmentName)
    if (audience === undefined) {
      const reason = 'There is no audience with this name to remove the person from.'
      rejected.push({ index, field: 'segment_name', reason })
    } else {
      memberships.push({ index, audience, verb, identity: identityOf(person), member: person })
    }
  }
  return { memberships, rejected }
}
