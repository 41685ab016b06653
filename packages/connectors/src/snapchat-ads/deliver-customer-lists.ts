import { ConnectorError, type DestinationContext, type DestinationWriter, type Rejection } from '@penstock/connector'
import { type Changes, groupMemberships } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import { type RowMember, readMemberships } from '../platform-api/audiences/segment-rows.ts'
import { numberIn, textIn } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { openAds, sendUsers } from './ads-api.ts'
import { openSegments } from './segment-directory.ts'

/** One identifier of a person: Snapchat takes those of one schema in a request. */
type Identifier = { readonly schema: Schema; readonly digest: string }

const schemas = {
  EMAIL_SHA256: 'email_sha256',
  PHONE_SHA256: 'phone_sha256',
  MOBILE_AD_ID_SHA256: 'maid_sha256',
} as const
type Schema = keyof typeof schemas

/** How many identifiers Snapchat takes in a request. */
export const identifiersMax = 100_000
const nameMax = 375

/** Adds and removes identifiers. The same again makes no difference. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, state, transferId, signal } = context
  const ads = openAds(context)
  const account = accountOf(settings.advertiserId)
  const directory = openSegments(ads, { account, lifespanDays: numberIn(settings.lifespanDays), signal })
  const audiences = new NamedAudiences(state, account, `Penstock ${transferId}`, directory)
  const refusals = new Refusals('Snapchat')

  async function send(schema: Schema, { audience, verb, changes }: Changes<Identifier>) {
    const digests = changes.map(({ member }) => member.digest)
    const reply = await refusals.count(
      () => sendUsers(ads, audience, verb, schema, digests),
      ({ refused }) => refused,
    )
    // What is sent again in halves is what it was before.
    if (reply.refused !== undefined) throw new ConnectorError('invalid_batch', reply.refused)
    return { bytes: reply.bytes, missed: Math.max(0, digests.length - (reply.counted ?? digests.length)) }
  }

  return {
    async deliver(batch) {
      const { memberships, rejected } = await readMemberships(batch, audiences, {
        ...{ nameMax, id: /^[\w-]{1,64}$/, identifier: 'email_sha256' },
        membersOf: identifiersOf,
      })
      const identifiers = new Map<number, number>()
      for (const { index } of memberships) identifiers.set(index, (identifiers.get(index) ?? 0) + 1)
      let bytes = 0
      for (const group of groupMemberships(memberships)) {
        for (const schema of Object.keys(schemas) as Schema[]) {
          const changes = group.changes.filter(({ member }) => member.schema === schema)
          if (changes.length === 0) continue
          const sent = await send(schema, { ...group, changes })
          bytes += sent.bytes
          // A row with another identifier is found by that one.
          const rows = new Set(changes.flatMap(({ rows }) => rows).filter((index) => identifiers.get(index) === 1))
          if (group.verb === 'add') rejected.push(...uncounted(Math.min(sent.missed, rows.size)))
        }
      }
      return { bytes, rejected, ...audiences.delivered() }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

const uncounted = (count: number): Rejection[] =>
  count > 0 ? [{ count, reason: 'Snapchat did not count the identifiers; it does not report the rows.' }] : []

function identifiersOf(row: BatchRow): Read<RowMember<Identifier>[]> {
  const members: RowMember<Identifier>[] = []
  for (const [schema, column] of Object.entries(schemas) as [Schema, string][]) {
    const digest = row.text(column)?.toLowerCase()
    if (digest === undefined) continue
    if (!isSha256(digest)) return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', column)
    members.push({ identity: `${schema} ${digest}`, member: { schema, digest } })
  }
  return { read: members }
}

/** The ad account that a setting names. */
export function accountOf(advertiserId: unknown): string {
  const id = textIn(advertiserId)?.trim() ?? ''
  if (/^[\w-]{1,64}$/.test(id)) return id
  throw new ConnectorError('invalid_setting', 'Advertiser ID must be the ID of an ad account at Snapchat.')
}
