import { ConnectorError, type DestinationContext, type DestinationWriter, type Rejection } from '@penstock/connector'
import { type Changes, groupMemberships, type Membership } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import { textIn } from '../platform-api/json.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { CustomerLists } from './customer-lists.ts'
import { type ListRow, listTypeOf, readListRows } from './list-rows.ts'
import { accountPath, idIn, openPinterest } from './pinterest-api.ts'

type Digests = readonly string[]

/** Adds records to customer lists and removes them: each batch counts at once, and again makes no difference. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, state, transferId, columns } = context
  const account = accountPath(settings.adAccountId)
  const lists = new CustomerLists(openPinterest(context), account)
  const audienceId = audienceOf(settings.audienceId)
  const audienceName = textIn(settings.audienceName) ?? `Penstock ${transferId}`
  let made: { digests: Digests; bytes: number | undefined } = { digests: [], bytes: undefined }
  const named = new NamedAudiences(
    state,
    account,
    audienceName,
    lists.directory(() => {
      const current = made
      return {
        digests: current.digests,
        type: listTypeOf(columns),
        sent: (bytes) => {
          current.bytes = bytes
        },
      }
    }),
  )
  const refusals = new Refusals('Pinterest')

  /** Sends changes of one list. Resolves with how many bytes were sent; `undefined` where there is no such list. */
  async function send({ audience: target, verb, changes }: Changes<Digests>): Promise<number | undefined> {
    const digests = [...new Set(changes.flatMap(({ member }) => member))]
    const [kind, key] = [target.slice(0, 1), target.slice(1)]
    if (kind === '#') return lists.change(await lists.listOf(key), verb, digests)
    made = { digests, bytes: undefined }
    const list = await named.idOf(key === '' ? undefined : key, verb === 'add')
    if (list === undefined) return undefined
    const bytes = made.bytes ?? (await lists.change(list, verb, digests))
    await lists.assertAudience(list, audienceName)
    return bytes
  }

  return {
    async deliver(batch) {
      const { rows, rejected } = readListRows(batch)
      // Rows that add come first, since they make the list.
      const groups = groupMemberships(rows.map((row) => membershipOf(row, audienceId)))
      let bytes = 0
      for (const changes of groups.sort((a, b) => (a.verb < b.verb ? -1 : a.verb > b.verb ? 1 : 0))) {
        const sent = await refusals.count(() => send(changes))
        if (sent === undefined) rejected.push(...withoutList(changes))
        else bytes += sent
      }
      return { bytes, rejected, ...named.delivered() }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

function audienceOf(audienceId: unknown): string | undefined {
  const text = textIn(audienceId)?.trim()
  if (!text) return undefined
  const id = idIn(text)
  if (id !== undefined) return id
  throw new ConnectorError('invalid_setting', 'Audience ID must be the number of an audience at Pinterest.')
}

/** Which list a row is about: `#` and the ID of its audience, or `=` and its name. */
function membershipOf(row: ListRow, audienceId: string | undefined): Membership<Digests> {
  const { index, verb, digests } = row
  const audience = row.audienceId ?? audienceId
  const target = audience === undefined ? `=${row.listName ?? ''}` : `#${audience}`
  return { index, audience: target, verb, identity: digests.join(), member: digests }
}

const withoutList = ({ changes }: Changes<Digests>): Rejection[] =>
  changes
    .flatMap(({ rows }) => rows)
    .map((index) => ({
      index,
      field: 'segment_name',
      reason: 'There is no customer list with this name to remove the person from.',
    }))
