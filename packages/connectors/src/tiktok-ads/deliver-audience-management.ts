import { ConnectorError, type DestinationContext, type DestinationWriter } from '@penstock/connector'
import { type Changes, groupMemberships } from '../platform-api/audiences/memberships.ts'
import { type AudienceDirectory, NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import { type RowMember, readMemberships } from '../platform-api/audiences/segment-rows.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { advertiserOf, audienceById, audienceId, audienceNamed, nameMax } from './audience-directory.ts'
import { codeOf, invalidParameter, openTikTok, partlyTaken } from './business-api.ts'

/** The kinds of identifiers, in the order in which a request has them, and the columns that they come from. */
const schemas = {
  EMAIL_SHA256: ['email_sha256'],
  PHONE_SHA256: ['phone_256'],
  // An advertising ID does not show of which kind of device it is, and its digest even less: both are tried.
  IDFA_SHA256: ['idfa_sha256', 'maid_sha256'],
  AAID_SHA256: ['aaid_sha256', 'maid_sha256'],
  IDFA_MD5: ['idfa_md5', 'maid_md5'],
  AAID_MD5: ['aaid_md5', 'maid_md5'],
} as const
type Schema = keyof typeof schemas
type Person = Readonly<Partial<Record<Schema, string>>>

/** Adds and removes people. The same again makes no difference. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { state, transferId } = context
  const client = openTikTok(context)
  const advertiser = await advertiserOf(context, client)
  const audiences = new NamedAudiences(state, advertiser, `Penstock ${transferId}`, openDirectory(client, advertiser))
  const refusals = new Refusals('TikTok')
  return {
    async deliver(batch) {
      const options = { nameMax, id: audienceId, identifier: 'email_sha256', membersOf: personOf }
      const { memberships, rejected } = await readMemberships(batch, audiences, options)
      let bytes = 0
      for (const changes of groupMemberships(memberships)) {
        bytes += await refusals.count(() => send(client, advertiser, changes))
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
  client: PlatformClient,
  advertiser: string,
  { audience, verb, changes }: Changes<Person>,
): Promise<number> {
  const used = (Object.keys(schemas) as Schema[]).filter((schema) => changes.some(({ member }) => member[schema]))
  const answer = await client.askObject({
    path: '/segment/mapping/',
    method: 'POST',
    body: {
      advertiser_ids: [advertiser],
      action: verb === 'add' ? 'add' : 'delete',
      id_schema: used,
      batch_data: changes.map(({ member }) =>
        used.map((schema) => (member[schema] === undefined ? {} : { id: member[schema], audience_ids: [audience] })),
      ),
    },
    expects: (reply) => [partlyTaken, invalidParameter].includes(codeOf(reply) ?? 0),
  })
  const code = codeOf(answer)
  if (code === 0) return answer.bytesSent
  // What is sent again in halves is what it was before.
  const message = `TikTok did not accept the identifiers (code ${code}); check how they were hashed, and the ID of the audience.`
  throw new ConnectorError('invalid_batch', message)
}

function personOf(row: BatchRow): Read<RowMember<Person>[]> {
  const person: Partial<Record<Schema, string>> = {}
  for (const [schema, columns] of Object.entries(schemas) as [Schema, readonly string[]][]) {
    const column = columns.find((each) => row.text(each) !== undefined)
    const digest = column === undefined ? undefined : row.text(column)?.toLowerCase()
    if (column === undefined || digest === undefined) continue
    const isMd5 = schema.endsWith('MD5')
    if (!(isMd5 ? /^[0-9a-f]{32}$/.test(digest) : isSha256(digest))) {
      const kind = isMd5 ? 'an MD5 digest of 32' : 'a SHA-256 digest of 64'
      return wrong(`The value is not ${kind} hexadecimal characters.`, column)
    }
    // Who is known to be of one kind of device is not of the other.
    if (column.startsWith('maid') && hasOther(row, schema)) continue
    person[schema] = digest
  }
  if (Object.keys(person).length === 0) return { read: [] }
  return { read: [{ identity: JSON.stringify(person), member: person }] }
}

const hasOther = (row: BatchRow, schema: Schema): boolean => {
  const [kind = '', digest = ''] = schema.toLowerCase().split('_')
  return row.text(`${kind === 'idfa' ? 'aaid' : 'idfa'}_${digest}`) !== undefined
}

/** The audiences of an advertiser into which identifiers are streamed; TikTok calls them partner audiences. */
function openDirectory(client: PlatformClient, advertiser: string): AudienceDirectory {
  return {
    async find(name) {
      return (await audienceNamed(client, advertiser, name, ({ isPartner }) => isPartner))?.id
    },
    async make(name) {
      const { json } = await client.askObject({
        path: '/segment/audience/',
        method: 'POST',
        body: { custom_audience_name: name, advertiser_id: advertiser, action: 'create' },
      })
      const id = textIn(objectIn(json.data).audience_id)
      if (id !== undefined && audienceId.test(id)) return id
      throw new ConnectorError('malformed_response', 'TikTok did not return the ID of the new audience.')
    },
    exists: async (id) => (await audienceById(client, advertiser, id)) !== undefined,
  }
}
