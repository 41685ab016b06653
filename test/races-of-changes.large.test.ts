import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Account, type Connection, type ConnectionStatus, lifecycle, type Trigger } from '@penstock/wire'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { firstConfiguration } from './harness/configurations.ts'
import { source, sourceSecrets } from './harness/fixtures.ts'
import { type Move, type Rivals, runRace, startRivals } from './harness/race.ts'
import type { Reply } from './harness/service.ts'

/** Races for one connection, account or configuration, between two services on one database. */

const rounds = 60
let rivals: Rivals
before(async () => {
  rivals = await startRivals()
})
after(() => rivals.close())

/** A connection as its lifecycle sees it. */
type State = { status: ConnectionStatus; previous: ConnectionStatus | undefined }

/** Effect of one trigger by the contract's table on a complete connection, and the response. */
function step({ status, previous }: State, trigger: Trigger): { state: State; said: string } {
  const transition = lifecycle[status][trigger]
  if ('refused' in transition) return { state: { status, previous }, said: transition.refused }
  const to = transition.to === 'previous' ? previous : transition.to
  assert(to)
  const isAside = (one: ConnectionStatus) => one === 'disabled' || one === 'deleted'
  return {
    state: { status: to, previous: isAside(to) ? (isAside(status) ? previous : status) : undefined },
    said: to,
  }
}

/** Responses to two triggers one after the other, and the resulting status: `[of the first, of the second, status]`. */
function inOrder(from: State, first: Trigger, second: Trigger): [string, string, ConnectionStatus] {
  const one = step(from, first)
  const two = step(one.state, second)
  return [one.said, two.said, two.state.status]
}

describe('two changes of a connection’s status at once are as if one came after the other', () => {
  const paths: Record<string, readonly Trigger[]> = {
    'In-progress': [],
    active: ['activate'],
    disabled: ['activate', 'disable'],
    deleted: ['activate', 'delete'],
  }
  const pairs: [keyof typeof paths, Trigger, Trigger][] = [
    ['In-progress', 'activate', 'disable'],
    ['In-progress', 'activate', 'delete'],
    ['active', 'activate', 'disable'],
    ['active', 'enable', 'disable'],
    ['active', 'disable', 'delete'],
    ['active', 'delete', 'restore'],
    ['active', 'delete', 'delete'],
    ['disabled', 'enable', 'disable'],
    ['disabled', 'enable', 'delete'],
    ['deleted', 'restore', 'delete'],
    ['deleted', 'restore', 'restore'],
  ]
  let account: Account
  before(async () => {
    account = await rivals.caller(0).addAccountWithSides()
    await rivals.caller(0).configureSides(account.id)
  })
  const trigger = (index: number, id: string, which: Trigger): Move => {
    const at = { accountId: account.id, id }
    if (which === 'delete') return rivals.move(index, 'deleteConnection', at)
    if (which === 'restore') return rivals.move(index, 'restoreConnection', at)
    return rivals.move(index, 'updateConnectionStatus', { ...at, body: { action: which as 'enable' } })
  }

  for (const [from, one, two] of pairs) {
    test(`${one} and ${two} of one that is ${from}`, () =>
      runRace(rounds / 2, {
        prepare: async () => {
          const connection = await rivals.caller(0).createConnection(account.id)
          let state: State = { status: connection.status, previous: undefined }
          for (const which of paths[from] ?? []) {
            assert.equal((await trigger(0, connection.id, which)()).status, 200)
            state = step(state, which).state
          }
          return { id: connection.id, state }
        },
        moves: ({ id }, round) => [trigger(round, id, one), trigger(round + 1, id, two)],
        judge: async ({ id, state }, replies) => {
          const now = await rivals
            .caller(0)
            .expect(rivals.caller(0).call('getConnection', { accountId: account.id, id }))
          const words = replies.map(({ error, response }) => error ?? (response as Connection).status)
          const [oneFirst, twoFirst] = [inOrder(state, one, two), inOrder(state, two, one)]
          const allowed = [oneFirst, [twoFirst[1], twoFirst[0], twoFirst[2]]].map((outcome) => outcome.join(', '))
          assert(
            allowed.includes([...words, now.status].join(', ')),
            `${words}, ${now.status}: not ${allowed.join(' or ')}`,
          )
          await rivals.assertInvariants(account.id)
        },
      }))
  }
})

describe('of two writes with the same If-Match at once one wins, and the other is refused', () => {
  type Scene = { accountId: string; id: string }
  const writes: Record<string, (scene: Scene, index: number, name: string, etag: string) => Move> = {
    'update a connection': ({ accountId, id }, index, name, etag) =>
      rivals.move(index, 'updateConnection', { accountId, id, body: { name }, headers: { 'if-match': etag } }),
    'disable a connection': ({ accountId, id }, index, _, etag) =>
      rivals.move(index, 'updateConnectionStatus', {
        accountId,
        id,
        body: { action: 'disable' as const },
        headers: { 'if-match': etag },
      }),
    'delete a connection': ({ accountId, id }, index, _, etag) =>
      rivals.move(index, 'deleteConnection', { accountId, id, headers: { 'if-match': etag } }),
    'edit an account': ({ accountId }, index, name, etag) =>
      rivals.move(index, 'editAccount', { id: accountId, body: { name }, headers: { 'if-match': etag } }),
    'delete an account': ({ accountId }, index, _, etag) =>
      rivals.move(index, 'deleteAccount', { id: accountId, headers: { 'if-match': etag } }),
    'configure a connector': ({ accountId }, index, name, etag) =>
      rivals.move(index, 'configureConnector', {
        accountId,
        id: source.id,
        headers: { 'if-match': etag },
        body: { name, secretConfig: { ...sourceSecrets, secretAccessKey: name } },
      }),
  }
  type Kind = 'connection' | 'account' | 'configuration'
  const pairs: [Kind, string, string][] = [
    ['connection', 'update a connection', 'update a connection'],
    ['connection', 'update a connection', 'disable a connection'],
    ['connection', 'update a connection', 'delete a connection'],
    ['account', 'edit an account', 'edit an account'],
    ['account', 'edit an account', 'delete an account'],
    ['configuration', 'configure a connector', 'configure a connector'],
  ]
  const read = (kind: Kind, { accountId, id }: Scene): Promise<Reply<unknown>> => {
    if (kind === 'connection') return rivals.caller(0).call('getConnection', { accountId, id })
    if (kind === 'account') return rivals.caller(0).call('getAccount', { id: accountId })
    return rivals.caller(0).call('getConnectorConfiguration', { accountId, id: source.id })
  }

  for (const [kind, one, two] of pairs) {
    test(`${one} and ${two}`, () =>
      runRace(rounds, {
        prepare: async () => {
          const { id: accountId } = await rivals.caller(0).addAccountWithSides()
          const scene = { accountId, id: (await rivals.caller(0).createConnection(accountId)).id }
          return { ...scene, etag: (await read(kind, scene)).headers.etag ?? '' }
        },
        moves: (scene, round) => [
          writes[one]?.(scene, round, 'first', scene.etag) ?? assert.fail(),
          writes[two]?.(scene, round + 1, 'second', scene.etag) ?? assert.fail(),
        ],
        judge: async (scene, replies) => {
          const lost = replies.filter(({ status }) => status >= 300)
          assert.equal(lost.length, 1, replies.map(({ text }) => text).join('\n'))
          // An account that the other one deleted is not there to be compared with.
          const mayBeGone = two === 'delete an account' && lost[0] === replies[0]
          assert.equal(lost[0]?.error, mayBeGone ? 'not_found' : 'precondition_failed')
          if (kind !== 'configuration') return rivals.assertInvariants(scene.accountId)
          const { keyring } = rivals.one.service.deps
          const { database } = rivals.one
          const owner = await firstConfiguration(database, { accountId: scene.accountId, connectorId: source.id })
          const opened = await openSecrets(database, keyring, owner)
          assert.equal(opened.secretAccessKey, lost[0] === replies[0] ? 'second' : 'first')
        },
      }))
  }
})
