import { ConnectorError, type DestinationContext, type DestinationWriter, type Rejection } from '@penstock/connector'
import { type Change, type Changes, groupMemberships, type Membership } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import { assignAudiences, readSegmentRows } from '../platform-api/audiences/segment-rows.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { accountPath, codesOf, isId, openX } from './ads-api.ts'
import { openAudiences } from './audience-directory.ts'
import { membersOf, type XMember } from './audience-rows.ts'

/** How many operations X takes in a request, and how large that may be. */
export const operationsMax = 2_500
const bodyBytesMax = 5_000_000
const nameMax = 255

type Sent = { readonly bytes: number; readonly blamed: readonly { at: number; code: string }[] | undefined }

/**
 * Adds people and removes them, each with an operation of its own, so that X can name the row. X takes a request as a whole
 * or not at all: what it names is left out, and the rest is sent again. The same again makes no difference.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, state, transferId } = context
  const ask = openX(context)
  const account = accountPath(settings.accountId)
  const ownId = textIn(settings.audienceId)?.trim()
  if (ownId && !isId(ownId))
    throw new ConnectorError('invalid_setting', 'Audience ID must be the ID of an audience at X.')
  const ownName = textIn(settings.audienceName)?.trim() || `Penstock ${transferId}`
  const audiences = new NamedAudiences(state, account, ownName, openAudiences(ask, account))
  const refusals = new Refusals('X')

  /** Sends operations, and resolves with what X names in them; `undefined` where it took them. */
  async function send(audience: string, verb: 'add' | 'remove', changes: readonly Change<XMember>[]): Promise<Sent> {
    const operation_type = verb === 'add' ? 'Update' : 'Delete'
    const body = JSON.stringify(changes.map(({ member }) => ({ operation_type, params: member })))
    if (Buffer.byteLength(body) > bodyBytesMax) {
      throw new ConnectorError('batch_too_large', 'The request is too large for X.')
    }
    const path = `${account}/custom_audiences/${audience}/users`
    const answer = await ask({ method: 'POST', path, body, expects: ({ status }) => status === 400 })
    const { status, json, bytesSent: bytes } = answer
    if (status !== 400) {
      const { success_count: taken, total_count: total } = objectIn(json.data)
      if (numberIn(taken) === changes.length && numberIn(total) === changes.length) return { bytes, blamed: undefined }
      throw new ConnectorError('platform_error', 'X did not count all people who were sent.')
    }
    return { bytes, blamed: blamedIn(json.operation_errors, changes.length, codesOf(json)[0]) }
  }

  async function sendGroup({ audience, verb, changes }: Changes<XMember>) {
    const rejected: Rejection[] = []
    let bytes = 0
    let left = changes
    while (left.length > 0) {
      const some = left
      const sent = await refusals.count(
        () => send(audience, verb, some),
        ({ blamed }) => blamed && notTaken(blamed[0]?.code),
      )
      bytes += sent.bytes
      if (sent.blamed === undefined) break
      const codes = new Map(sent.blamed.map(({ at, code }) => [at, code]))
      for (const [at, code] of codes) {
        for (const index of some[at]?.rows ?? []) rejected.push({ index, reason: notTaken(code) })
      }
      left = some.filter((_, at) => !codes.has(at))
    }
    return { bytes, rejected }
  }

  return {
    async deliver(batch) {
      const read = readSegmentRows(batch, { nameMax, id: /^[a-z0-9]{1,32}$/i, identifier: 'email', membersOf })
      const rows = read.rows.map((row) => {
        const namesNone = row.segmentId === undefined && row.segmentName === undefined
        return namesNone && ownId ? { ...row, segmentId: ownId } : row
      })
      const { memberships, rejected } = await assignAudiences(rows, audiences, read.rejected)
      let bytes = 0
      for (const group of groupMemberships(memberships satisfies Membership<XMember>[])) {
        const sent = await sendGroup(group)
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

const notTaken = (code: string | undefined): string =>
  `X did not accept the person${code === undefined ? '' : ` (${code})`}; check the identifiers and the times.`

/**
 * The places that a refusal names: a list with an entry for each operation, empty where there is nothing wrong with it.
 * Throws `invalid_batch` where it names none, or lists another number of operations, after which the engine looks for them.
 */
function blamedIn(errors: unknown, sent: number, code: string | undefined): { at: number; code: string }[] {
  const entries = listIn(errors)
  const blamed = entries.flatMap((entry, at) => {
    const found = [entry].flat().find((error) => Object.keys(objectIn(error)).length > 0)
    return found === undefined ? [] : [{ at, code: codesOf({ errors: [found] })[0] ?? 'INVALID' }]
  })
  if (entries.length === sent && blamed.length > 0) return blamed
  throw new ConnectorError(
    'invalid_batch',
    `X refuses the people without reporting which ones (${code ?? 'status 400'}).`,
  )
}
