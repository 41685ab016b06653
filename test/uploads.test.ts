import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createClient } from '@penstock/client'
import { limits, uploadedFileConnectorId } from '@penstock/wire'
import { chunkBytes, cut } from '../packages/server/src/uploads/chunks.ts'
import { purgeExpiredUploads } from '../packages/server/src/uploads/purge.ts'
import { localFolder } from './harness/connections.ts'
import { contentOf } from './harness/content.ts'
import { dumpDatabase, placesOf } from './harness/dump.ts'
import { anyFile, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { openLine } from './harness/raw-http.ts'
import { startTestService } from './harness/service.ts'
import { startTestsWithInbox } from './harness/started.ts'
import { until } from './harness/until.ts'

/** Files that people upload: how they are stored, read, refused and deleted. */

const fileUpload = connectorBySlug('file-upload')
const mib = 1024 ** 2
const { service, inbox } = await startTestsWithInbox({ env: { PENSTOCK_UPLOAD_MB: '2', PENSTOCK_UPLOADS_MB: '5' } })
await service.service.app.listen({ port: 0, host: '127.0.0.1' })
const port = (service.service.app.server.address() as AddressInfo).port
const organization = await service.addOrganization()
const caller = callerOf(service, organization)

const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
const stored = async () => {
  const [row] = await sql(
    `select (select count(*) from uploads)::int as files, (select count(*) from upload_chunks)::int as chunks,
       (select count(*) from data_keys)::int as keys`,
  )
  return row as { files: number; chunks: number; keys: number }
}
const upload = (accountId: string, body: Uint8Array<ArrayBuffer>, name = 'people.csv') =>
  caller.call('createUpload', { accountId, query: { name }, body })
const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const expire = (id: string) => sql(`update uploads set expires_time = now() where id = $1`, id)

/** An account in which a connection reads an uploaded file into the folder. */
async function addReader(body: Uint8Array<ArrayBuffer>, name?: string) {
  const { id: accountId } = await caller.addAccount()
  const { id: uploadId } = await caller.expect(upload(accountId, body, name))
  await caller.addConnectors(accountId, fileUpload, localFolder)
  const secretConfig = { folder: inbox.folder }
  await caller.expect(caller.call('configureConnector', { accountId, id: localFolder.id, body: { secretConfig } }))
  const created = await caller.expect(
    caller.call('createConnection', {
      accountId,
      body: {
        name: 'First rows',
        srcConnectorId: fileUpload.id,
        destConnectorId: localFolder.id,
        srcConnectionConfig: { upload: uploadId },
      },
    }),
  )
  return { accountId, uploadId, id: created.id }
}
const preview = ({ accountId, id }: { accountId: string; id: string }) =>
  caller.call('previewConnection', { accountId, id, body: { unmapped: true } })

describe('a stream is cut', () => {
  for (const [what, parts, expected] of [
    ['nothing', [], []],
    ['less than a piece', [3], [3]],
    ['exactly one', [4], [4]],
    ['exactly two', [8], [4, 4]],
    ['one and a half, byte by byte', [1, 1, 1, 1, 1, 1], [4, 2]],
    ['many at once', [19], [4, 4, 4, 4, 3]],
  ] as const) {
    test(`into pieces: ${what}`, async () => {
      const whole = randomBytes(parts.reduce((sum: number, part) => sum + part, 0))
      const stream = (async function* () {
        let at = 0
        for (const part of parts) {
          yield whole.subarray(at, at + part)
          at += part
        }
      })()
      const pieces: Buffer[] = []
      const lasts: boolean[] = []
      for await (const { bytes, isLast } of cut(stream, 4)) {
        pieces.push(bytes)
        lasts.push(isLast)
      }
      assert.deepEqual(
        pieces.map(({ length }) => length),
        expected,
      )
      assert(Buffer.concat(pieces).equals(whole))
      assert.deepEqual(
        lasts,
        expected.map((_, index) => index === expected.length - 1),
      )
    })
  }
})

describe('an uploaded file', () => {
  test('is listed, found, and deleted with its content and its key', async () => {
    const { id: accountId } = await caller.addAccount()
    const before = await stored()
    const made = await caller.expect(upload(accountId, anyFile))
    assert.deepEqual([made.accountId, made.name, made.sizeBytes], [accountId, 'people.csv', anyFile.length])
    assert.equal(made.expiresTime - made.createdTime, limits.uploadHoursDefault * 3_600)
    assert.deepEqual(await caller.expect(caller.call('listUploads', { accountId })), [made])
    assert.deepEqual(await caller.expect(caller.call('getUpload', { accountId, id: made.id })), made)
    await caller.expect(caller.call('deleteUpload', { accountId, id: made.id }))
    assert.equal((await caller.call('getUpload', { accountId, id: made.id })).status, 404)
    assert.equal((await caller.call('deleteUpload', { accountId, id: made.id })).status, 404)
    assert.deepEqual(await stored(), before)
  })

  test('is nowhere in the clear: not in a table, not in the log', async () => {
    const canary = `canary${randomBytes(8).toString('hex')}@example.com`
    const { id: accountId } = await caller.addAccount()
    await caller.expect(upload(accountId, bytesOf(`email\n${canary}\n`)))
    for (const text of [await dumpDatabase(service.database.pool), service.logLines.join('')]) {
      assert.deepEqual(placesOf(canary, text), [])
    }
  })

  test('is uploaded with the client, from a Blob as well', async () => {
    const { id: accountId } = await caller.addAccount()
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token: organization.token })
    for (const body of [new Blob([anyFile]), anyFile, anyFile.buffer]) {
      const { reply } = await client.createUpload({ accountId, query: { name: 'Müller ☂.csv' }, body })
      assert.deepEqual([reply.name, reply.sizeBytes], ['Müller ☂.csv', anyFile.length])
    }
  })

  test('is done once under its Idempotency-Key; another content or name under it is refused', async () => {
    const { id: accountId } = await caller.addAccount()
    const headers = { 'idempotency-key': randomBytes(8).toString('hex') }
    const send = (body: Uint8Array<ArrayBuffer>, name = 'people.csv') =>
      caller.call('createUpload', { accountId, query: { name }, body, headers })
    const first = await caller.expect(send(anyFile))
    const before = await stored()
    assert.deepEqual(await caller.expect(send(anyFile)), first)
    for (const other of [await send(bytesOf('x\n1\n')), await send(anyFile, 'others.csv')]) {
      assert.equal(other.error, 'idempotency_key_reused')
    }
    assert.deepEqual(await stored(), before)
  })

  test('is deleted when it expires, and that is in the audit log', async () => {
    const { id: accountId } = await caller.addAccount()
    const [gone, kept] = [
      await caller.expect(upload(accountId, anyFile)),
      await caller.expect(upload(accountId, anyFile)),
    ]
    await expire(gone.id)
    const listed = await caller.expect(caller.call('listUploads', { accountId }))
    assert.deepEqual(
      listed.map(({ id }) => id),
      [kept.id],
    )
    assert.equal((await caller.call('getUpload', { accountId, id: gone.id })).status, 404)
    assert.equal(await purgeExpiredUploads(service.database), 1)
    assert.deepEqual(await sql('select id from uploads where account_id = $1', accountId), [{ id: kept.id }])
    await service.service.settleAudit()
    const events = await sql(
      `select action, actor_kind, before from audit_events where account_id = $1 and target_id = $2 order by number`,
      accountId,
      gone.id,
    )
    assert.deepEqual(events.at(-1), { action: 'purgeUpload', actor_kind: 'service', before: { name: 'people.csv' } })
  })
})

describe('an upload is refused', () => {
  /** Sends a request on a separate connection. If `body` breaks off, the request does not end. */
  async function raw(accountId: string, headers: string, body: string | Buffer = '', name = 'people.csv') {
    const line = await openLine(port)
    line.write(
      `POST /es/v2/uploads?accountId=${accountId}&name=${encodeURIComponent(name)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${organization.token}\r\n${headers}\r\n\r\n`,
    )
    line.write(body)
    return line
  }
  const octets = 'Content-Type: application/octet-stream'

  for (const [what, name] of [
    ['a path', '../../etc/passwd'],
    ['a path of Windows', 'C:\\people.csv'],
    ['NUL', 'a\0.csv'],
    ['a line break', 'a\n.csv'],
    ['an escape', 'a\u001b[31m.csv'],
    ['a turn of direction', 'a\u202evsc.exe'],
    ['nothing', ''],
    ['blanks', '   '],
    ['dots', '..'],
    ['too much', 'a'.repeat(limits.uploadNameLengthMax + 1)],
  ] as const) {
    test(`whose name has ${what}`, async () => {
      const { id: accountId } = await caller.addAccount()
      const content = await contentOf(service)
      const reply = await upload(accountId, anyFile, name)
      assert.deepEqual([reply.status, reply.details[0]?.field], [400, 'query.name'], reply.text)
      assert.equal(await contentOf(service), content)
    })
  }

  test('that is empty, of another type, or encoded', async () => {
    const { id: accountId } = await caller.addAccount()
    const content = await contentOf(service)
    const call = { accountId, query: { name: 'a.csv' } }
    const empty = await caller.call('createUpload', { ...call, body: new Uint8Array(0) })
    assert.deepEqual([empty.status, empty.details[0]?.field], [400, 'body'], empty.text)
    for (const headers of [
      { 'content-type': 'multipart/form-data; boundary=x' },
      { 'content-type': 'application/json' },
      { 'content-type': 'text/csv' },
      { 'content-encoding': 'gzip' },
    ]) {
      const reply = await caller.call('createUpload', { ...call, body: anyFile, headers } as never)
      assert.deepEqual([reply.status, reply.error], [415, 'unsupported_media_type'], JSON.stringify(headers))
      assert.match(reply.text, /application\/octet-stream/)
    }
    using untyped = await raw(accountId, 'Content-Length: 3', 'abc')
    assert.equal((await untyped.replies(1))[0]?.status, 415)
    assert.equal(await contentOf(service), content)
  })

  test('as a body of any other operation', async () => {
    const headers = { 'content-type': 'application/octet-stream' }
    const reply = await caller.call('addAccount', { body: { name: 'New' }, headers })
    assert.deepEqual([reply.status, reply.error], [415, 'unsupported_media_type'])
  })

  test('that is too large: by what it declares before it is read, and otherwise where it passes the bound', async () => {
    const { id: accountId } = await caller.addAccount()
    const content = await contentOf(service)
    const exact = await caller.expect(upload(accountId, new Uint8Array(2 * mib)))
    assert.equal(exact.sizeBytes, 2 * mib)
    await caller.expect(caller.call('deleteUpload', { accountId, id: exact.id }))
    using declared = await raw(accountId, `${octets}\r\nContent-Length: ${2 * mib + 1}`)
    const [reply] = await declared.replies(1)
    assert.equal(reply?.status, 413)
    assert.match(reply?.text ?? '', /2 MiB.*PENSTOCK_UPLOAD_MB/)
    const part = Buffer.alloc(mib)
    const chunk = Buffer.concat([Buffer.from(`${mib.toString(16)}\r\n`), part, Buffer.from('\r\n')])
    using chunked = await raw(
      accountId,
      `${octets}\r\nTransfer-Encoding: chunked`,
      Buffer.concat([chunk, chunk, chunk]),
    )
    assert.equal((await chunked.replies(1))[0]?.status, 413)
    await chunked.ended()
    assert.equal(await contentOf(service), content)
  })

  test('above the limit of the sub-account, to which those count that are on their way', async () => {
    const { id: accountId } = await caller.addAccount()
    using waiting = await raw(accountId, `${octets}\r\nContent-Length: ${2 * mib}`, 'a')
    await until('it has begun', async () => (await sql('select id from uploads where account_id = $1', accountId))[0])
    await caller.expect(upload(accountId, new Uint8Array(2 * mib)))
    const reply = await upload(accountId, new Uint8Array(2 * mib))
    assert.deepEqual([reply.status, reply.error], [409, 'quota_exceeded'], reply.text)
    assert.match(reply.details[0]?.message ?? '', /5 MiB; PENSTOCK_UPLOADS_MB/)
    const { id: other } = await caller.addAccount()
    await caller.expect(upload(other, new Uint8Array(2 * mib)))
    waiting.socket.destroy()
    // The next test counts stored files.
    await until('it is deleted', async () => {
      return (await sql('select from uploads where account_id = $1 and chunks is null', accountId)).length === 0
    })
  })

  test('if it breaks off: nothing of it is visible, and nothing stays', async () => {
    const { id: accountId } = await caller.addAccount()
    const before = await stored()
    const line = await raw(accountId, `${octets}\r\nContent-Length: ${2 * mib}`, Buffer.alloc(mib, 97))
    await until('some of it is stored', async () => (await stored()).chunks >= before.chunks + 3)
    assert.deepEqual(await caller.expect(caller.call('listUploads', { accountId })), [])
    line.socket.destroy()
    await until('it is deleted', async () => JSON.stringify(await stored()) === JSON.stringify(before))
  })

  test('if its process dies: it is purged, and was never visible', async () => {
    const { id: accountId } = await caller.addAccount()
    const before = await stored()
    await sql(
      `insert into data_keys (id, key_id, sealed) select 'feedfeedfeedfeed', key_id, sealed from data_keys limit 1`,
    )
    await sql(
      `insert into uploads (id, organization_id, account_id, name, size_bytes, data_key_id, expires_time)
       values ('0123456789abcdef', $1, $2, '', 5, 'feedfeedfeedfeed', now())`,
      organization.organizationId,
      accountId,
    )
    await sql(`insert into upload_chunks values ('0123456789abcdef', 0, '\\x00')`)
    assert.deepEqual(await caller.expect(caller.call('listUploads', { accountId })), [])
    await purgeExpiredUploads(service.database)
    assert.deepEqual(await stored(), before)
  })
})

test('a file has more time to arrive than another body, and not all the time', async (t) => {
  for (const fileMs of [3_600_000, 200]) {
    const slow = await startTestService({}, { requestMs: 200, fileMs, checkMs: 20 })
    t.after(() => slow.close())
    await slow.service.app.listen({ port: 0, host: '127.0.0.1' })
    const { port: at } = slow.service.app.server.address() as AddressInfo
    const { token, ...rest } = await slow.addOrganization()
    const { id: accountId } = await callerOf(slow, { token, ...rest }).addAccount()
    const begin = async (path: string, type: string) => {
      const line = await openLine(at)
      line.write(
        `POST /es/v2${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${type}\r\nContent-Length: 4\r\n\r\n{`,
      )
      return line
    }
    using file = await begin(`/uploads?accountId=${accountId}`, 'application/octet-stream')
    using other = await begin('/accounts', 'application/json')
    assert.equal((await other.replies(1))[0]?.status, 408)
    if (fileMs === 200) {
      assert.equal((await file.replies(1))[0]?.status, 408)
      const left = async () => (await slow.database.pool.query('select from uploads')).rowCount === 0
      await until('nothing of it is left', left)
    } else {
      file.write('"a"')
      assert.equal((await file.replies(1))[0]?.status, 201)
    }
  }
})

test('the console knows the connector of uploaded files', () => {
  assert.equal(fileUpload.id, uploadedFileConnectorId)
})

describe('a connection reads an uploaded file', () => {
  for (const [what, body, name] of [
    ['CSV', bytesOf('email,city\nada@example.com,London\n'), 'people.csv'],
    ['CSV in gzip', new Uint8Array(gzipSync('email;city\nada@example.com;London\n')), 'people'],
    ['NDJSON', bytesOf('{"email":"ada@example.com","city":"London"}\n'), 'people.csv'],
  ] as const) {
    test(`as ${what}`, async () => {
      const reply = await preview(await addReader(body, name))
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual([reply.response.columns, reply.response.rows], [['email', 'city'], [['xxx@xxxx….xxx', 'Xxxx…']]])
    })
  }

  test('of several pieces, from any place', async () => {
    const lines = Array.from({ length: 60_000 }, (_, n) => `person-${n}@example.com`)
    const reply = await preview(await addReader(bytesOf(`email\n${lines.join('\n')}\n`)))
    assert.equal(reply.status, 200, reply.text)
    assert(lines.join().length > 4 * chunkBytes)
  })

  test('finds it by its name, and only in its sub-account', async () => {
    const { accountId, uploadId } = await addReader(anyFile, 'Spring customers.csv')
    const discover = async (q: string, account = accountId) => {
      const body = { field: 'upload', q }
      const { items } = await caller.expect(
        caller.call('discoverValues', { accountId: account, id: fileUpload.id, body }),
      )
      return items.map(({ value, label, kind }) => ({ value, label, kind }))
    }
    const entry = { value: uploadId, label: 'Spring customers.csv', kind: 'file' }
    assert.deepEqual(await discover('SPRING'), [entry])
    assert.deepEqual(await discover('autumn'), [])
    const second = await caller.expect(upload(accountId, anyFile, 'More.csv'))
    assert.deepEqual(
      (await discover('')).map(({ value }) => value),
      [second.id, uploadId],
    )
    const other = await addReader(anyFile)
    assert.deepEqual(
      (await discover('', other.accountId)).map(({ value }) => value),
      [other.uploadId],
    )
    const checked = await caller.expect(caller.call('checkConnector', { accountId, id: fileUpload.id }))
    assert.equal(checked.ok, true, checked.message)
    const srcConnectionConfig = { upload: other.uploadId }
    const stolen = await caller.call('previewConnection', {
      ...(await addReader(anyFile)),
      body: { srcConnectionConfig },
    } as never)
    assert.deepEqual([stolen.status, stolen.error], [422, 'platform_refused'], stolen.text)
  })

  test('and says what to do once it is gone', async () => {
    const reader = await addReader(anyFile)
    await caller.expect(caller.call('deleteUpload', { accountId: reader.accountId, id: reader.uploadId }))
    const reply = await preview(reader)
    assert.deepEqual([reply.status, reply.error], [422, 'platform_refused'], reply.text)
    assert.match(reply.details[0]?.message ?? '', /not kept any more.*Upload the file again/)
  })

  test('that is none: a sentence says so', async () => {
    for (const [body, says] of [
      [new Uint8Array(randomBytes(5_000)), /\w/],
      [new Uint8Array([0x50, 0x4b, 3, 4, ...randomBytes(2_000)]), /\w/],
      [new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, ...randomBytes(2_000)]), /\w/],
      [bytesOf('PAR1 is how it begins'), /\w/],
    ] as const) {
      const reply = await preview(await addReader(body))
      assert.deepEqual([reply.status, reply.error], [422, 'platform_refused'], reply.text)
      assert.match(reply.details[0]?.message ?? '', says)
    }
  })

  test('of which nothing was altered, moved or cut off', async () => {
    const text = `email\n${'ada@example.com\n'.repeat(40_000)}`
    const whole = await addReader(bytesOf(text))
    const { uploadId } = whole
    const chunks = (await sql('select number from upload_chunks where upload_id = $1', uploadId)).length
    assert(chunks === 3)
    const spoilings: Record<string, [string, string]> = {
      altered: [
        `update upload_chunks set sealed = set_byte(sealed, 100, get_byte(sealed, 100) # 1) where upload_id = $1 and number = 0`,
        `update upload_chunks set sealed = set_byte(sealed, 100, get_byte(sealed, 100) # 1) where upload_id = $1 and number = 0`,
      ],
      'cut off': [
        `update uploads set chunks = 1, size_bytes = ${chunkBytes} where id = $1`,
        `update uploads set chunks = 3, size_bytes = ${text.length} where id = $1`,
      ],
    }
    for (const [what, [spoil, repair]] of Object.entries(spoilings)) {
      await sql(spoil, uploadId)
      const reply = await preview(whole)
      assert.deepEqual([reply.status, reply.error], [409, 'stored_value_unreadable'], `${what}: ${reply.text}`)
      await sql(repair, uploadId)
      assert.equal((await preview(whole)).status, 200, what)
    }
    const other = await addReader(bytesOf(text))
    await sql(
      `update upload_chunks a set sealed = b.sealed from upload_chunks b
       where a.upload_id = $1 and a.number = 0 and b.upload_id = $2 and b.number = 0`,
      uploadId,
      other.uploadId,
    )
    assert.equal((await preview(whole)).error, 'stored_value_unreadable')
  })
})
