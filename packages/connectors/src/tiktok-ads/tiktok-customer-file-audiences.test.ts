import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Cell, Json } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import { sha256 } from '../../test/digest.ts'
import { assertPreviewed, batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import {
  advertiser,
  tiktokAudienceSecrets as secrets,
  startTikTokAudiences,
  type TikTokAudienceServer,
} from '../../test/tiktok-audience-server.ts'
import { coded } from '../../test/tiktok-server.ts'
import { tiktokCustomerFileAudiences as connector } from './tiktok-customer-file-audiences.ts'

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const columns = ['segment_name', 'action', 'email']
const settings = { advertiserId: advertiser }
const routesOf = (url: string) => ({ 'https://business-api.tiktok.com': url })
const row = (n: number, action = 'add', name: string | null = 'Loyal'): Cell[] => [name, action, sha256(`jane${n}`)]
const device = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'

await testDestination<TikTokAudienceServer>({
  connector,
  testServer: 'a server that keeps to what is known of TikTok',
  start: startTikTokAudiences,
  routes: routesOf,
  secrets,
  wrongSecrets: { ...secrets, accessToken: 'expired-token' },
  settings,
  missing: { advertiserId: '42' },
  columns,
  posts: /upload/,
  hangs: /upload|list/,
  measures: {
    request: /GET .*custom_audience\/list/,
    reply: (audience_id) => ({
      code: 0,
      data: {
        list: [{ audience_id, name: 'Loyal', cover_num: 2300, is_valid: true, is_expiring: false, shared: false }],
      },
    }),
    measure: { low: 2300, high: 2300, received: null, matched: null, status: 'valid' },
  },
  accepts: {
    columns,
    rows: Array.from({ length: 12 }, (_, n) => row(n)),
    badRows: [
      { row: ['Loyal', 'add', 'not hashed'], reason: /not a SHA-256 digest/, field: 'email' },
      { row: ['Loyal', 'purge', sha256('x')], reason: /must be add or remove/, field: 'action' },
    ],
    readBack: (server) => [...server.members].map((member) => ['Loyal', 'add', member.split(' ')[2] ?? '']),
    reset: (server) => server.members.clear(),
    problems: [
      [coded(40100), 'limits calls', 'retry', { code: 'rate_limited' }],
      [coded(50002), 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry', { match: /update/ }],
      [coded(40105), 'finds the token expired', 'reauthenticate'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf, fails } = scene

    const bodies = (path: RegExp) => scene.server.received.filter((one) => path.test(one.path)).map(({ json }) => json)
    const kept = () => [...scene.server.members].map((member) => member.split(' ').slice(1).join(' '))

    test('makes an audience of a first file, then appends to it and removes from it, exactly', async () => {
      const writer = await openWriter()
      assert.deepEqual(
        (await writer.deliver(batchOf(columns, [row(1), row(2), row(3), row(3, 'remove')]))).rejected,
        [],
      )
      const [audience] = scene.server.audiences
      const file = `${sha256('jane1')}\n${sha256('jane2')}\n`
      const [upload] = scene.server.received.filter(({ path }) => /upload/.test(path))
      for (const part of [
        `name="advertiser_id"\r\n\r\n${advertiser}\r\n`,
        'name="calculate_type"\r\n\r\nEMAIL_SHA256\r\n',
        `name="file_signature"\r\n\r\n${md5(file)}\r\n`,
        `name="file"; filename="penstock-${md5(file)}.csv"\r\nContent-Type: text/csv\r\n\r\n${file}\r\n`,
      ]) {
        assert.ok(upload?.text.includes(part), part)
      }
      assert.deepEqual(bodies(/create/), [
        {
          advertiser_id: advertiser,
          custom_audience_name: 'Loyal',
          calculate_type: 'EMAIL_SHA256',
          file_paths: [`${advertiser}/1`],
        },
      ])
      await deliver([row(4), row(1, 'remove')])
      assert.deepEqual(bodies(/update/).slice(-2), [
        {
          advertiser_id: advertiser,
          custom_audience_id: audience?.audience_id,
          action: 'APPEND',
          file_paths: [`${advertiser}/3`],
        },
        {
          advertiser_id: advertiser,
          custom_audience_id: audience?.audience_id,
          action: 'REMOVE',
          file_paths: [`${advertiser}/4`],
        },
      ])
      assert.deepEqual(kept().sort(), [`EMAIL_SHA256 ${sha256('jane2')}`, `EMAIL_SHA256 ${sha256('jane4')}`].sort())
      assert.equal(scene.server.audiences.length, 1)
    })

    test('writes several kinds of identifiers into one file, and names rows of which it can hold none', async () => {
      const columns = ['segment_name', 'action', 'email_sha256', 'phone', 'maid', 'maid_sha256']
      const rows: Cell[][] = [
        ['Loyal', 'add', sha256('jane').toUpperCase(), sha256('12025550100'), null, null],
        ['Loyal', 'add', null, null, device.toUpperCase(), null],
        ['Loyal', 'add', null, null, null, sha256(device)],
      ]
      const batch = batchOf(columns, rows)
      const { rejected } = await (await openWriter({ columns })).deliver(batch)
      assertRejected(rejected, [2])
      // An existing audience can have files of another kind.
      await assertPreviewed(connector, contextOf(), batch, [])
      const wrong = batchOf(columns, [
        ['Loyal', 'add', 'jane@example.com', null, null, null],
        ['Loyal', 'add', null, '12025550100', null, null],
        ['Loyal', 'add', null, null, sha256(device), null],
        ['Loyal', 'add', null, null, null, device],
        ['Loyal', 'add', null, null, null, null],
        ['x'.repeat(129), 'add', sha256('jane'), null, null, null],
      ])
      const { rejected: unread } = await (await openWriter({ columns })).deliver(wrong)
      assert.deepEqual(
        unread?.map(({ field }) => field),
        ['email_sha256', 'phone', 'maid', 'maid_sha256', 'email', 'segment_name'],
      )
      await assertPreviewed(connector, contextOf(), wrong, unread)
      assert.match(rejected?.[0]?.reason ?? '', /MULTIPLE_TYPES/)
      assert.deepEqual(kept(), [
        `email_SHA256 ${sha256('jane')}`,
        `phone_SHA256 ${sha256('12025550100')}`,
        `MAID ${device}`,
      ])
      const [upload] = scene.server.received.filter(({ path }) => /upload/.test(path))
      const file = `email_SHA256,phone_SHA256,MAID\n${sha256('jane')},${sha256('12025550100')},\n,,${device}\n`
      assert.ok(upload?.text.includes(file))
    })

    test('hashes advertising IDs where the audience holds nothing else', async () => {
      const columns = ['segment_name', 'action', 'maid', 'maid_sha256']
      const rows: Cell[][] = [
        ['Devices', 'add', device, null],
        ['Devices', 'add', null, sha256('another')],
      ]
      assert.deepEqual((await deliver(rows, { columns })).rejected, [])
      assert.deepEqual(kept(), [`MAID_SHA256 ${sha256(device)}`, `MAID_SHA256 ${sha256('another')}`])
    })

    test('keeps to the kind of an audience that is there', async () => {
      await deliver([row(1)])
      const withPhones = [...columns, 'phone']
      const rows: Cell[][] = [
        ['Loyal', 'add', null, sha256('12025550100')],
        ['Loyal', 'add', sha256('jane2'), sha256('12025550101')],
      ]
      const writer = await openWriter({ columns: withPhones })
      const { rejected } = await writer.deliver(batchOf(withPhones, rows))
      assertRejected(rejected, [0])
      assert.deepEqual(kept(), [`EMAIL_SHA256 ${sha256('jane1')}`, `EMAIL_SHA256 ${sha256('jane2')}`])
    })

    test('changes an audience by its ID, and says where it cannot', async () => {
      await deliver([row(1)])
      const [audience] = scene.server.audiences
      assert.ok(audience)
      const byId = ['segment_id', 'action', 'email']
      const batch = (id: string) => batchOf(byId, [[id, 'add', sha256('jane2')]])
      await (await openWriter()).deliver(batch(audience.audience_id))
      assert.equal(scene.server.members.size, 2)
      assert.equal(await codeOf((await openWriter()).deliver(batch('42'))), 'object_not_found')
      audience.audience_type = 'Partner Audience'
      const error = await connectorErrorOf((await openWriter()).deliver(batch(audience.audience_id)), contextOf())
      assert.equal(error.code, 'not_supported')
    })

    test('stores its own audience, and rejects invalid rows before a file is made', async () => {
      const { state } = await deliver([row(1, 'add', null)])
      const [own] = scene.server.audiences
      assert.deepEqual(state, { account: advertiser, audienceId: own?.audience_id, audiences: {} })
      const rows: [Cell[], string | undefined][] = [
        [row(1, 'replace'), 'action'],
        [['Loyal', 'add', 'jane@example.com'], 'email'],
        [['Loyal', 'add', ''], 'email'],
        [row(1, 'remove', 'Never heard of'), 'segment_name'],
      ]
      const writer = await openWriter({ state: state as Json })
      const batch = batchOf(columns, [...rows.map(([cells]) => cells), row(9, 'add', null)])
      const { rejected = [] } = await writer.deliver(batch)
      assertRejected(
        rejected,
        rows.map(([, field], index) => [index, field]),
      )
      assert.deepEqual([scene.server.audiences.length, scene.server.members.size], [1, 2])
      // Only TikTok knows that there is no audience with this name.
      await assertPreviewed(connector, contextOf(), batch, rejected.slice(0, -1))
    })

    test('takes a batch of the largest size', async () => {
      const { rowsMax = 0 } = connector.destination?.deliver?.batch({}) ?? {}
      const rows = Array.from({ length: rowsMax }, (_, n): Cell[] => ['Loyal', 'add', n.toString(16).padStart(64, '0')])
      assert.deepEqual((await deliver(rows)).rejected, [])
      assert.equal(scene.server.members.size, rowsMax)
    })

    for (const [step, match] of [
      ['a file is uploaded', /upload/],
      ['an audience is changed', /update/],
    ] as const) {
      test(`reports to the engine what each of TikTok’s codes asks for where ${step}`, async () => {
        const cases: FailureCase[] = [
          [coded(40100), 'retry', 'rate_limited'],
          [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
          [coded(40201), 'retry', 'conflict'],
          [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
          ['reset', 'retry', 'connection_lost'],
          ['reset after', 'retry', 'connection_lost'],
          [{ json: {} }, 'retry', 'malformed_response'],
          [coded(40102), 'reauthenticate', 'invalid_credentials'],
          [coded(40001), 'reconfigure', 'permission_denied'],
          [coded(40900), 'fail', 'request_refused'],
          [{ status: 413, text: '' }, 'split', 'batch_too_large'],
        ]
        await deliver([row(1)])
        const { writer } = await fails(cases, [row(2)], match)
        assert.deepEqual((await writer.deliver(batchOf(columns, [row(2)]))).rejected, [])
        assert.equal(scene.server.members.size, 2)
      })
    }

    test('makes no second audience where the answer to the first was lost', async () => {
      scene.server.failure(/create/, 'reset after')
      const writer = await openWriter()
      const error = await connectorErrorOf(writer.deliver(batchOf(columns, [row(1)])), contextOf())
      assert.equal(error.action, 'retry')
      await deliver([row(1)])
      assert.deepEqual([scene.server.audiences.length, scene.server.members.size], [1, 1])
    })

    test('makes no audience of people of whom a file can hold nothing, or who do not stay', async () => {
      const columns = ['segment_name', 'action', 'email', 'phone', 'maid_sha256']
      const rows: Cell[][] = [
        ['Loyal', 'add', null, null, sha256(device)],
        ['Loyal', 'remove', sha256('jane'), null, null],
        ['Buyers', 'add', sha256('jane'), null, null],
        ['Buyers', 'remove', sha256('jane'), null, null],
      ]
      const { rejected = [] } = await deliver(rows, { columns })
      assertRejected(rejected, [[0, 'maid_sha256'], ...[1, 2, 3].map((index) => [index, 'segment_name'])])
      assert.equal(scene.server.audiences.length, 0)
    })

    test('believes no answer that names no file or audience', async () => {
      for (const [match, data] of [
        [/upload/, { file_path: {} }],
        [/upload/, null],
        [/create/, { custom_audience_id: '../1' }],
        [/create/, []],
      ] as const) {
        scene.server.failure(match, coded(0, data))
        const error = await connectorErrorOf(deliver([row(1)]), contextOf())
        assert.equal(error.code, 'malformed_response')
      }
    })
  },
})
