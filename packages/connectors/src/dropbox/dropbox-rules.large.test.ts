import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { ConnectorError, Json, Row, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { startDropbox, testServerName } from '../../test/dropbox-server.ts'
import { collect, csvOfRows, rowsOfCsv, someRows } from '../../test/object-store-server.ts'
import { check } from './check.ts'
import { openDropbox } from './dropbox-client.ts'
import { dropboxSink } from './dropbox-sink.ts'
import { write as openDestination, open as openSource } from './files.ts'

const server = await startDropbox()
after(() => server.close())
const { proxy, routes, secrets, files } = server
const { columns, rows } = someRows(20_000)
beforeEach(() => files.clear())

const fails = async (work: Promise<unknown> | undefined): Promise<ConnectorError> => {
  const [result] = await Promise.allSettled([work])
  assert.equal(result?.status, 'rejected')
  return result.reason as ConnectorError
}

async function readAll(path: string, settings: Values = {}): Promise<Row[]> {
  const reader = await openSource(testContext({ secrets, routes, settings: { path, ...settings } }))
  const chunks = await collect(reader.read())
  await reader.close()
  return chunks.flatMap((chunk) => chunk.rows)
}

const openWriter = (settings: Values, options: TestContextOptions = {}) =>
  openDestination(testContext({ secrets, routes, settings, columns, ...options }))

async function write(settings: Values, some: readonly Row[], options: TestContextOptions = {}): Promise<void> {
  const writer = await openWriter(settings, options)
  await writer.deliver({ key: '0', columns, rows: some, firstRow: 1 })
  await writer.flush?.()
  await writer.finish?.()
  await writer.close?.()
}

describe(`reading a Dropbox, against ${testServerName}`, () => {
  test('pages through a folder, and finds names in another case', async () => {
    server.pageSize = 3
    for (let index = 0; index < 10; index++) {
      server.put(`/Many/${index}.csv`, `id\n${index}\n`)
      server.put(`/Many/deeper/${index}.csv`, 'id\n99\n')
    }
    assert.equal((await readAll('/Many/')).length, 10)
    assert.equal((await readAll('many')).length, 10)
    assert.deepEqual(await readAll('/MANY/7.CSV'), [['7']])
    server.pageSize = 500
  })

  test('reads files whatever characters are in their names', async () => {
    for (const name of ['a b+c.csv', 'ä&ü <q>.csv', "it's (50%) off!.csv", '#1?x=y.csv', '日本.csv', '😀.csv']) {
      server.put(`/odd/${name}`, `name\n"${name}"\n`)
      assert.deepEqual(await readAll(`/odd/${name}`), [[name]])
    }
  })

  test('fails if a file is replaced while it is being read, and reads on if a connection breaks', async () => {
    server.put('/changes/1.csv', csvOfRows(columns, rows))
    proxy.failure = { what: { breaksAfterBytes: 700_000 }, of: ({ url }) => url.endsWith('/download'), times: 2 }
    assert.deepEqual(await readAll('/changes/'), rows)
    const reader = await openSource(testContext({ secrets, routes, settings: { path: '/changes/' } }))
    const [first] = await collect(reader.read())
    server.put('/changes/1.csv', csvOfRows(columns, rows.toReversed()))
    const { action, code } = await fails(collect(reader.read(first?.checkpoint ?? null)))
    assert.deepEqual([action, code], ['fail', 'source_changed'])
    await reader.close()
  })

  test('asks for one token, and for another one when that has expired', async () => {
    server.put('/tokens/1.csv', csvOfRows(columns, rows))
    const before = server.tokensGiven
    const reader = await openSource(testContext({ secrets, routes, settings: { path: '/tokens/' } }))
    await collect(reader.read())
    assert.equal(server.tokensGiven, before + 1)
    server.expireTokens()
    assert.equal((await collect(reader.read())).flatMap((chunk) => chunk.rows).length, rows.length)
    assert.equal(server.tokensGiven, before + 2)
    await reader.close()
  })

  test('begins at the space of the team if it is asked to', async () => {
    server.put('/team/1.csv', 'id\n1\n')
    await readAll('/team/')
    assert.equal(server.roots.size, 0)
    assert.deepEqual(await readAll('/team/', { teamSpace: true }), [['1']])
    assert.deepEqual([...server.roots], ['7'])
  })

  test('names the permission that the app lacks', async () => {
    server.put('/scopes/1.csv', 'id\n1\n')
    server.scopes.delete('files.content.read')
    const steps = await check(testContext({ secrets, routes, settings: { path: '/scopes/' } }))
    server.scopes.add('files.content.read')
    assert.deepEqual(
      steps.map(({ ok }) => ok),
      [true, true, false],
    )
    assert.match(steps[2]?.message ?? '', /lacks the permission files\.content\.read\. Enable it/)
  })
})

describe(`writing to a Dropbox, against ${testServerName}`, () => {
  const target = {
    name: 'large/people.csv',
    abortedName: 'large/people-1.csv',
    transferId: 'many-parts',
    startedTime: '2026-01-31T12:00:00.123Z',
  }
  const newSink = () => dropboxSink(openDropbox(testContext({ secrets, routes })), target)
  const stored = () => String(files.get('/large/people.csv')?.bytes ?? '')
  const parts = Array.from({ length: 5 }, (_, number) => `${number}`.repeat(number === 1 ? 5 << 20 : 1_000))

  /** Writes parts, in a new process each time. */
  async function writeParts(states: Json[], from: number, to = parts.length): Promise<void> {
    for (let number = from; number < to; number++) {
      const offset = parts.slice(0, number).join('').length
      const part = { number, offset, bytes: Buffer.from(parts[number] ?? '') }
      states.push(JSON.parse(JSON.stringify(await newSink().writePart(part, states))))
    }
  }

  test('resumes at any part in another process, and writes a part over that was not confirmed', async () => {
    const states: Json[] = []
    for (let number = 0; number < parts.length; number++) {
      // A part that was written and not confirmed had other rows.
      const offset = parts.slice(0, number).join('').length
      await newSink().writePart({ number, offset, bytes: Buffer.from('other rows') }, states)
      await writeParts(states, number, number + 1)
    }
    assert.equal(stored(), '')
    await newSink().publish(states)
    assert.equal(stored(), parts.join(''))
    assert.deepEqual([...files.keys()], ['/large/people.csv'])
  })

  for (const lost of ['append_v2', 'finish']) {
    test(`finds its work done if the answer to ${lost} was lost`, async () => {
      const states: Json[] = []
      await writeParts(states, 0, lost === 'finish' ? parts.length : 2)
      proxy.failure = { what: 'loses the answer', of: ({ url }) => url.endsWith(lost), times: 1 }
      const step = async () => (lost === 'finish' ? newSink().publish(states) : writeParts(states, 2))
      assert.equal((await fails(step())).action, 'retry')
      const before = files.get('/large/people.csv')
      if (lost === 'finish') assert.ok(before)
      await step()
      await newSink().publish(states)
      if (before) assert.equal(files.get('/large/people.csv'), before)
      assert.equal(stored(), parts.join(''))
    })
  }

  test('says so if an upload session is gone', async () => {
    const states: Json[] = []
    await writeParts(states, 0)
    server.sessions.clear()
    const { action, code } = await fails(newSink().publish(states))
    assert.deepEqual([action, code], ['fail', 'upload_lost'])
  })

  test('does not take a part that arrived damaged', async () => {
    proxy.failure = {
      what: { status: 409, body: JSON.stringify({ error_summary: 'content_hash_mismatch/..', error: {} }) },
      of: ({ url }) => url.endsWith('/upload'),
    }
    assert.equal((await fails(writeParts([], 0, 1))).code, 'connection_lost')
    proxy.failure = undefined
  })

  test('says that there is no space left', async () => {
    const body = JSON.stringify({ error_summary: 'path/insufficient_space/...', error: { '.tag': 'path' } })
    proxy.failure = { what: { status: 409, body }, of: ({ url }) => url.endsWith('/upload') }
    const { action, code, message } = await fails(writeParts([], 0, 1))
    proxy.failure = undefined
    assert.deepEqual([action, code], ['fail', 'disk_full'])
    assert.match(message, /path\/insufficient_space.*no space left/)
  })

  test('replaces the file of the name that was given, with the ending of its content', async () => {
    const outputPath = '/Named/{{date}}/people.csv'
    await write({ outputPath }, rows.slice(0, 5))
    await write({ outputPath }, rows.slice(5, 10), { transferId: 'later', startedTime: '2026-01-31T13:00:00.000Z' })
    await write({ outputPath, fileFormat: 'NDJSON', gzip: true }, rows.slice(0, 5))
    const folder = '/named/2026-01-31/'
    assert.deepEqual([...files.keys()].sort(), [`${folder}people.csv`, `${folder}people.ndjson.gz`])
    assert.deepEqual(rowsOfCsv(files.get(`${folder}people.csv`)?.bytes ?? Buffer.alloc(0)), rows.slice(5, 10))
    await write({}, rows.slice(0, 5))
    assert.ok(
      [...files.keys()].some((path) => /^\/\d{8}T\d{6}Z-[^/]+\.csv$/i.test(path)),
      [...files.keys()].join(),
    )
  })

  test('keeps what an aborted transfer confirmed, and replaces no file of an earlier one with it', async () => {
    const outputPath = '/aborted/people.csv'
    await write({ outputPath }, rows.slice(0, 5), { transferId: 'earlier', startedTime: '2026-01-30T12:00:00.000Z' })
    const large = someRows(100, 90_000)
    const writer = await openWriter({ outputPath })
    const { deliveryState } = await writer.deliver({ key: '0', columns, rows: large.rows, firstRow: 1 })
    assert.ok(deliveryState)
    await writer.deliver({ key: '1', columns, rows: large.rows, firstRow: 101 })
    for (let time = 0; time < 2; time++)
      await (await openWriter({ outputPath }, { deliveryStates: [deliveryState] })).abort?.()
    const kept = [...files.keys()].filter((path) => path !== '/aborted/people.csv')
    assert.equal(kept.length, 1)
    assert.match(kept[0] ?? '', /^\/aborted\/people-\d{8}t\d{6}z-[0-9a-f]+\.csv$/)
    assert.deepEqual(rowsOfCsv(files.get(kept[0] ?? '')?.bytes ?? Buffer.alloc(0)), large.rows)
    assert.deepEqual(rowsOfCsv(files.get('/aborted/people.csv')?.bytes ?? Buffer.alloc(0)), rows.slice(0, 5))
  })

  test('leaves nothing of an abort if nothing was confirmed', async () => {
    const writer = await openWriter({ outputPath: '/aborted/' })
    await writer.deliver({ key: '0', columns, rows: someRows(100, 90_000).rows, firstRow: 1 })
    assert.equal(files.size, 1)
    await (await openWriter({ outputPath: '/aborted/' })).abort?.()
    assert.equal(files.size, 0)
  })
})
