import { ConnectorError, type DestinationContext } from '@penstock/connector'
import type { AudienceTarget, MemberReplacement, SendPeople } from '../kit/audience-facts.ts'
import { call, isSuccess } from '../platform-api/call.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { type JsonObject, numberIn, textIn } from '../platform-api/json.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'
import { fileHosts } from './file-hosts.ts'

/**
 * Maximum number of identifiers of one transfer that are kept in memory, 45 bytes each, until they replace the identifiers of
 * audiences.
 */
const keptMax = 1_000_000

/** Identifiers that share a file: of one kind, for the same time. */
type Drop = { readonly kind: string; readonly minutes: number | undefined; readonly lines: readonly string[] }

/** The files for some people: each contains identifiers of one kind, and one time that applies to all of them. */
function dropsOf(people: readonly JsonObject[]): Drop[] {
  const drops = new Map<string, Drop & { lines: string[] }>()
  for (const { TtlInMinutes, ...identifier } of people) {
    const minutes = numberIn(TtlInMinutes)
    for (const [kind, digest] of Object.entries(identifier)) {
      const key = `${kind} ${minutes}`
      const drop = drops.get(key) ?? { kind, minutes, lines: [] }
      drop.lines.push(String(digest))
      drops.set(key, drop)
    }
  }
  return [...drops.values()]
}

const contentOf = (lines: readonly string[]): Buffer => Buffer.from(`${lines.join('\n')}\n`)

/**
 * Announces a file of an audience and uploads it to the address in the answer. Resolves with its size in bytes. The Trade Desk
 * processes it later. Throws connector errors. Sending the same file again makes no difference.
 */
async function upload(
  client: PlatformClient,
  context: DestinationContext,
  { account, audience }: Pick<AudienceTarget, 'account' | 'audience'>,
  { kind, minutes }: Pick<Drop, 'kind' | 'minutes'>,
  mode: 'Add' | 'Replace',
  content: Buffer,
): Promise<number> {
  const { json } = await client.askObject({
    method: 'POST',
    path: `/crmdata/segment/${account}/${audience}`,
    body: { PiiType: kind, MergeMode: mode, TtlInMinutes: minutes },
  })
  const url = textIn(json.Url) ?? ''
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  if (protocol !== 'https:' || !fileHosts.test(hostname)) {
    const message = 'The Trade Desk did not return an address for the file at one of its stores.'
    throw new ConnectorError('malformed_response', message)
  }
  // The address is signed, and must not get the token.
  const answer = await call(context, { method: 'PUT', url, headers: { 'content-type': 'text/plain' }, body: content })
  if (isSuccess(answer)) return answer.bytesSent
  const message = `The store of The Trade Desk did not take the file (status ${answer.status}).`
  throw new ConnectorError(answer.status === 429 ? 'rate_limited' : 'platform_error', message, {
    afterMs: waitMsOf(answer),
  })
}

/** Makes what adds people to an audience by files. */
export const dropSender =
  (client: PlatformClient, context: DestinationContext): SendPeople =>
  async (people, to) => {
    let bytes = 0
    for (const drop of dropsOf(people)) bytes += await upload(client, context, to, drop, 'Add', contentOf(drop.lines))
    return { bytes, blamed: [], missed: [] }
  }

type Kept = Pick<Drop, 'kind' | 'minutes'> & { readonly to: AudienceTarget; readonly files: Map<string, Buffer> }

/**
 * Creates the object that replaces the people of audiences. Each file replaces the previous one, and files are processed later,
 * in an undocumented order. So an audience gets one file, after the last row. Until then its people are kept in memory, and
 * after a crash the rows are sent again. If not all people of an audience are known, it keeps its earlier people.
 * @param most maximum number of identifiers
 */
export function dropReplacement(
  client: PlatformClient,
  context: DestinationContext,
  most = keptMax,
): MemberReplacement {
  const kept = new Map<string, Kept>()
  let lines = 0
  return {
    held: () => new Set(kept.keys()),
    async send(people, to, key) {
      for (const { kind, minutes, lines: added } of dropsOf(people)) {
        const known = kept.get(to.audience) ?? { to, kind, minutes, files: new Map() }
        if (known.kind !== kind || known.minutes !== minutes) {
          const message =
            'An audience is replaced by one file, which holds either e-mail addresses or phone numbers, for one number of minutes. Map one of them, and one value of TtlInMinutes. The audience was not changed.'
          throw new ConnectorError('invalid_setting', message)
        }
        if (!known.files.has(key)) lines += added.length
        if (lines > most) {
          const message = `A transfer replaces at most ${most.toLocaleString('en')} people. No audience was replaced. Use several connections, or add people.`
          throw new ConnectorError('not_supported', message)
        }
        known.files.set(key, contentOf(added))
        kept.set(to.audience, known)
      }
      return { bytes: 0, blamed: [], missed: [] }
    },
    deliveryState: () => undefined,
    async flush() {
      let bytes = 0
      for (const [audience, { to, files, ...drop }] of kept) {
        bytes += await upload(client, context, to, drop, 'Replace', Buffer.concat([...files.values()]))
        kept.delete(audience)
      }
      lines = 0
      return bytes
    },
  }
}
