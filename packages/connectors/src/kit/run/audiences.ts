import type { Batch, DestinationContext, DestinationWriter, Json, Rejection, Values } from '@penstock/connector'
import { type Changes, groupMemberships } from '../../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../../platform-api/audiences/named-audiences.ts'
import {
  assignAudiences,
  noAudience,
  type RowMember,
  readSegmentRows,
} from '../../platform-api/audiences/segment-rows.ts'
import { type JsonObject, textIn } from '../../platform-api/json.ts'
import type { BatchRow } from '../../platform-api/rows/batch-rows.ts'
import { type Read, rejectionOf } from '../../platform-api/rows/events.ts'
import { rejectionsOf } from '../../platform-api/rows/row-results.ts'
import type { AudienceDestination, OpenedAudience } from '../audience-facts.ts'
import { replacesAll } from '../replaces.ts'
import { accountOf, withApi } from './audience-account.ts'
import { madeId, openDirectory } from './audience-directory.ts'
import { assertIds, openApi } from './open-api.ts'
import { eventReader } from './read-event.ts'
import { openReplacement, openSend } from './send-people.ts'

type Person = JsonObject

/**
 * Opens a writer that changes audiences by the facts of a destination. Each batch takes effect immediately, and repeating it
 * makes no difference.
 */
export async function openAudiences(
  stated: AudienceDestination,
  context: DestinationContext,
): Promise<DestinationWriter> {
  const { settings, state, transferId } = context
  const facts = withApi(stated, context)
  assertIds(facts.settings, settings)
  const client = await openApi(context, facts.platformApi, facts.auth)
  const to = await accountOf(facts, context, client)
  const ownId = facts.own?.id === undefined ? undefined : textIn(settings[facts.own.id])?.trim()
  const ownName =
    (facts.own?.name === undefined ? undefined : textIn(settings[facts.own.name])?.trim()) ||
    (facts.lists.ownName?.(transferId) ?? `Penstock ${transferId}`)
  const audiences = new NamedAudiences(state, to.account, ownName, openDirectory(facts, client, to, context))
  const read = peopleReader(facts, settings, context.test)
  const later = await facts.later?.(client, context)
  const send = await openSend(facts, client, context, later)
  const replacement = await openReplacement(facts, client, context, send)
  const isHeld = () => (replacement?.held?.().size ?? 0) > 0
  const delivered = () => {
    const deliveryState = replacement?.deliveryState()
    return { ...(deliveryState !== undefined && { deliveryState }), ...audiences.delivered() }
  }
  const writer: DestinationWriter = {
    async deliver(batch) {
      const { rows, rejected: unread } = read(batch)
      const isOwn = ({ segmentId, segmentName }: (typeof rows)[number]) =>
        segmentId === undefined && (segmentName === undefined || facts.own?.comesFirst)
      const named = rows.map((row) => (ownId && isOwn(row) ? { ...row, segmentId: ownId } : row))
      const { memberships, rejected, replaced } = await assignAudiences(named, audiences, unread)
      const identifiers = new Map<number, number>()
      for (const { index } of memberships) identifiers.set(index, (identifiers.get(index) ?? 0) + 1)
      let bytes = 0
      const answers: (Json | null)[] = new Array(batch.rows.length).fill(null)
      const groups = groupMemberships(memberships)
      // Added people can create an audience, so groups that add come first.
      if (!facts.lists.make) groups.sort((a, b) => Number(a.verb === 'remove') - Number(b.verb === 'remove'))
      for (const group of groups) {
        for (const [keys, { audience: meant, verb, changes }, part] of requestsOf(facts, group)) {
          const people = changes.map(({ member }) => member)
          const audience = audiences.madeOf(meant) ?? ''
          if (audience === '' && verb === 'remove') {
            rejected.push(...changes.flatMap(({ rows }) => rows.map((index) => rejectionOf(index, noAudience))))
            continue
          }
          const rowsOfPeople = changes.map(({ rows }) => rows)
          const name = audiences.nameOf(meant)
          const target = { ...to, audience, name, verb, keys, replaces: false, rows: rowsOfPeople }
          const isReplaced = replaced.has(meant) || replacement?.held?.().has(audience)
          const replacing = verb === 'add' && isReplaced ? replacement : undefined
          const sent = await (replacing
            ? replacing.send(people, target, [batch.key, ...part, ...keys].join(' '))
            : send(people, target))
          if (audience === '' && sent.blamed.length < people.length) audiences.made(meant, madeId(facts, sent.made))
          bytes += sent.bytes
          rejected.push(...rejectionsOf(changes, sent.blamed))
          const blamed = new Set(sent.blamed.map(({ at }) => at))
          const left = changes.filter((_, at) => !blamed.has(at)).flatMap(({ rows }) => rows)
          for (const index of left) answers[index] = sent.answer ?? null
          // A person with another identifier can be found by that one.
          const rows = left.filter((index) => identifiers.get(index) === 1)
          rejected.push(...rejectionsOf([{ rows }], sent.missed))
        }
      }
      const answered = answers.some((one) => one !== null) && { answers }
      return { ...(isHeld() && { held: true }), bytes, rejected, ...answered, ...delivered() }
    },
    ...(replacement?.flush && {
      flush: async () => {
        if (!isHeld()) return undefined
        return { bytes: (await replacement.flush?.()) ?? 0, ...delivered() }
      },
    }),
    ...(replacement?.finish && { finish: replacement.finish }),
  }
  return later?.writer(writer) ?? writer
}

/** The requests of a group of changes, each with the keys of its people, and its number if it is not the first with these keys. */
function* requestsOf(
  facts: OpenedAudience,
  group: Changes<Person>,
): Generator<[string[], Changes<Person>, readonly number[]]> {
  const { rowsMax } = facts.batch
  for (const [keys, { changes, ...about }] of shared(facts, group)) {
    for (let from = 0; from < changes.length; from += rowsMax) {
      const part = from === 0 ? [] : [from / rowsMax]
      yield [keys, { ...about, changes: changes.slice(from, from + rowsMax) }, part]
    }
  }
}

/** The changes of a group, with people who have the same keys together. */
function* shared({ sharing }: OpenedAudience, group: Changes<Person>): Generator<[string[], Changes<Person>]> {
  if (!sharing) return yield [[], group]
  const byKeys = Map.groupBy(group.changes, ({ member }) => Object.keys(member).join('\n'))
  for (const [keys, changes] of byKeys) yield [keys.split('\n'), { ...group, changes }]
}

/** Makes the function that finds the rows of which no person can be made, without the platform. */
export async function personRejections(
  facts: AudienceDestination,
  context: Pick<DestinationContext, 'settings' | 'secrets'>,
): Promise<(batch: Batch) => readonly Rejection[]> {
  const read = peopleReader(withApi(facts, context), context.settings)
  return (batch) => read(batch).rejected
}

/** Makes the function that reads the rows of a batch. */
function peopleReader(facts: OpenedAudience, settings: Values, test = false) {
  const { lists, identity = Object.entries, members = (person: Person) => [person], sharing } = facts
  const platformName = facts.platformApi.name
  const identifiers = Object.entries(facts.columns).filter(([, { oneOf }]) => oneOf === 'identifier')
  const identifier = identifiers[0]?.[0] ?? 'segment_id'
  // Columns that only a function reads leave it to the function.
  const isRead = identifiers.every(([, { reading }]) => reading.kind !== 'special')
  const wanted = {
    anyOf: isRead ? identifiers.map(([, { to }]) => to.replace(/\[\]$/, '')) : [],
    missing: `The row has no identifier by which ${platformName} can find the person.`,
    field: identifier,
  }
  const byAction = facts.replace?.byRows ? 'by action' : undefined
  const replacing = replacesAll(facts, settings) ? 'all' : byAction
  const readPerson = eventReader({ ...facts, platformName, person: wanted })

  return (batch: Batch) => {
    const membersOf = (row: BatchRow): Read<readonly RowMember<Person>[]> => {
      const found = readPerson(batch, row, settings)
      if ('wrong' in found) return found
      const person = found.read.event
      if (sharing !== 'one key') {
        return {
          read: members(person).map((member) => ({ identity: JSON.stringify(identity(member)), member })),
        }
      }
      return {
        read: Object.entries(person).map(([key, value]) => ({ identity: `${key} ${value}`, member: { [key]: value } })),
      }
    }
    const { nameMax, name, id } = lists
    return readSegmentRows(batch, {
      nameMax,
      name,
      id,
      actions: facts.columns.action?.values,
      replacing,
      test,
      identifier,
      membersOf,
    })
  }
}
