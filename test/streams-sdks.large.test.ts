import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { eventStreamConnectorId } from '@penstock/wire'
import type { Browser, Page } from 'playwright-core'
import { type AnsweringProxy, startAnsweringProxy } from './harness/answering-proxy.ts'
import { launchBrowser, openPage, skip } from './harness/browser.ts'
import { assertInvariants } from './harness/invariants.ts'
import { skewedClock } from './harness/skewed-clock.ts'
import { addStreamWithKey } from './harness/streams.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/**
 * The libraries of Segment and RudderStack, unchanged except for the address. Their requests pass a proxy. It refuses some of
 * them, and drops the answer to others after the service has stored their events.
 */

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const hourMs = 3_600_000

let proxy: AnsweringProxy
let fixture: Fixture
let stream: { id: string; key: string }
let startedMs: number
before(async () => {
  proxy = await startAnsweringProxy()
  fixture = await startFixture({ PENSTOCK_PUBLIC_URL: proxy.origin })
  const address = await fixture.service.service.app.listen({ host: '127.0.0.1', port: 0 })
  proxy.servePort(Number(new URL(address).port))
  await fixture.startWorker()
  stream = await addStreamWithKey(fixture.caller, fixture.accountId)
  startedMs = Date.now()
})
after(async () => {
  if (fixture) await assertInvariants(fixture.service.database.pool)
  await fixture?.close()
  await proxy?.close()
})

type EventRow = {
  readonly type: string
  readonly event: string | null
  readonly name: string | null
  readonly userId: string | null
  readonly groupId: string | null
  readonly previousId: string | null
  readonly messageId: string
  readonly timestamp: Date
  readonly receivedAt: Date
  readonly email: string | null
  readonly number: number | null
  readonly total: number | null
  readonly library: string
}

/** Columns of the table, with the columns of the stream that fill them. */
const columns: Readonly<Record<keyof EventRow, readonly [column: string, type: string]>> = {
  type: ['type', 'text'],
  event: ['event', 'text'],
  name: ['name', 'text'],
  userId: ['userId', 'text'],
  groupId: ['groupId', 'text'],
  previousId: ['previousId', 'text'],
  messageId: ['messageId', 'text'],
  timestamp: ['timestamp', 'timestamptz'],
  receivedAt: ['receivedAt', 'timestamptz'],
  email: ['traits.email', 'text'],
  number: ['properties.number', 'integer'],
  total: ['properties.total', 'double precision'],
  library: ['context.library.name', 'text'],
}

let tables = 0
/**
 * Moves the stream to a new table, and returns the events of a person.
 * @param emailAt the column with the trait `email`
 */
async function eventsOf(person: string, emailAt = 'traits.email'): Promise<EventRow[]> {
  const table = `events_${++tables}`
  const defined = Object.entries(columns).map(([name, [, type]]) => `"${name}" ${type}`)
  await fixture.target.query(`create table ${table} (${defined.join(', ')})`)
  const mapping = JSON.stringify(
    Object.fromEntries(Object.entries(columns).map(([name, [column]]) => [name, name === 'email' ? emailAt : column])),
  )
  const source = { id: eventStreamConnectorId }
  const connection = await fixture.connect(source, {}, postgresql, { table, mapping })
  const transfer = await fixture.ended(connection, (await fixture.start(connection)).id)
  assert.equal(transfer.status, 'succeeded', JSON.stringify([transfer.error, transfer.records]))
  return (await fixture.target.query(`select * from ${table} where "userId" = $1`, [person])).rows
}

/** RudderStack's library adds the traits of a person to all of its events. */
const emailOf = ({ type, email }: EventRow) => (type === 'identify' ? email : null)

/** Each call once, forty orders, and times of the service's clock. */
function assertAllCalls(rows: readonly EventRow[], person: string, library: RegExp, hasScreens = true): void {
  const numbers = rows.filter(({ type }) => type === 'track').map(({ number }) => number)
  assert.deepEqual(
    numbers.toSorted((a, b) => Number(a) - Number(b)),
    Array.from({ length: 40 }, (_, index) => index),
  )
  assert.equal(new Set(rows.map(({ messageId }) => messageId)).size, rows.length)
  const others = rows.filter(({ type }) => type !== 'track').toSorted((a, b) => (a.type < b.type ? -1 : 1))
  assert.deepEqual(
    others.map((row) => [row.type, row.userId, row.name, emailOf(row), row.groupId, row.previousId]),
    [
      ['alias', person, null, null, null, `${person}-before`],
      ['group', person, null, null, 'acme', null],
      ['identify', person, null, 'ada@example.com', null, null],
      ['page', person, 'Start', null, null, null],
      ['screen', person, 'Cart', null, null, null],
    ].slice(0, hasScreens ? 5 : 4),
  )
  for (const row of rows) {
    assert.match(row.library, library)
    assertOwnClock(row)
    if (row.type === 'track') assert.deepEqual([row.event, row.total], ['Order completed', 19.5])
  }
}

/** The event happened after the test began and before it was received, whatever the clock of its client. */
function assertOwnClock({ timestamp, receivedAt }: EventRow): void {
  // Times of different milliseconds on the way are rounded.
  assert(timestamp.getTime() >= startedMs - 1000, `${timestamp.toISOString()} is too early`)
  assert(timestamp.getTime() <= receivedAt.getTime() + 1000, `${timestamp.toISOString()} is after it was received`)
}

/** The proxy has refused requests, and the service has accepted all others. */
function assertRefused(requests: AnsweringProxy['requests']): void {
  const refused = requests.map(({ status }) => status).filter((status) => status >= 400)
  assert.deepEqual(refused.sort(), [429, 503, 503])
}

/** Sends with a library in a process whose clock is wrong, and returns the requests that it made. */
async function sendWith(script: string, person: string, clockMs: number) {
  const first = proxy.requests.length
  const env = { ...process.env, ...skewedClock(clockMs), HOST: proxy.origin, WRITE_KEY: stream.key, PERSON: person }
  const { stdout } = await run(process.execPath, [join(root, 'test/sdks', script)], { env })
  assert.deepEqual(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), { errors: [] })
  return proxy.requests.slice(first)
}

describe('libraries for Node', () => {
  for (const [script, library, isCompressed] of [
    ['send-with-segment.ts', /^@segment\/analytics-node$/, false],
    ['send-with-rudderstack.ts', /^analytics-node$|rudder/, true],
  ] as const) {
    test(`${script}: batches, retries after 429 and 503, and a clock that is hours wrong`, async () => {
      const person = `${script} ahead`
      proxy.answerNext(429, 503, 'lost')
      const requests = await sendWith(script, person, 26 * hourMs)
      assert.deepEqual(new Set(requests.map(({ path }) => path)), new Set(['/v1/batch']))
      assertRefused(requests)
      for (const { headers, body } of requests) {
        assert.equal(headers['content-encoding'] === 'gzip', isCompressed)
        const { batch } = JSON.parse(String(isCompressed ? gunzipSync(body) : body))
        assert(batch.length <= 10)
      }
      assertAllCalls(await eventsOf(person), person, library)
    })

    test(`${script}: a clock that is days behind`, async () => {
      const person = `${script} behind`
      await sendWith(script, person, -100 * 24 * hourMs)
      assertAllCalls(await eventsOf(person), person, library)
    })
  }
})

describe('libraries for browsers', { skip }, () => {
  const segment = join(root, 'node_modules/@segment/analytics-next/dist/umd')
  const rudderstack = join(root, 'node_modules/@rudderstack/analytics-js/dist/npm/modern/bundled/umd/index.js')
  let site: Server
  let origin: string
  let browser: Browser
  before(async () => {
    site = createServer(async ({ url = '/' }, response) => {
      const file = url === '/rudderstack.js' ? rudderstack : join(segment, url.replace('/segment/', ''))
      if (!url.endsWith('.js'))
        return response.setHeader('content-type', 'text/html').end('<!doctype html><title>Shop</title>')
      response.setHeader('content-type', 'text/javascript').end(await readFile(file))
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    site?.closeAllConnections()
    site?.close()
  })

  /**
   * Runs on a page of another site, whose clock is wrong, until the service has accepted events, and has received one of
   * them again after it was not answered.
   */
  async function onPage(script: string, clockMs: number, work: (page: Page) => Promise<void>, count: number) {
    const { page, close } = await openPage(browser, origin)
    await page.addInitScript((ms) => {
      const TrueDate = Date
      globalThis.Date = class extends TrueDate {
        constructor(...given: [] | [number]) {
          if (given.length === 0) super(TrueDate.now() + ms)
          else super(...given)
        }
        static override now() {
          return TrueDate.now() + ms
        }
      } as DateConstructor
    }, clockMs)
    await page.goto('/')
    await page.addScriptTag({ url: `${origin}/${script}` })
    const first = await counts()
    await work(page)
    await until('the events are stored', async () => {
      const { accepted, duplicates } = await counts()
      return (accepted >= first.accepted + count && (duplicates ?? 0) > (first.duplicates ?? 0)) || undefined
    })
    await close()
  }
  const counts = () =>
    fixture.caller.expect(fixture.caller.call('getStream', { accountId: fixture.accountId, id: stream.id }))

  for (const strategy of ['standard', 'batching'] as const) {
    test(`@segment/analytics-next, ${strategy}`, async () => {
      const person = `segment ${strategy}`
      proxy.answerNext(429, 503, 'lost')
      const first = proxy.requests.length
      const call = async (page: Page) => {
        await page.evaluate(
          async ([writeKey, cdnURL, userId, named]) => {
            const { AnalyticsBrowser } = (globalThis as never as { AnalyticsNext: { AnalyticsBrowser: PageLibrary } })
              .AnalyticsNext
            const deliveryStrategy =
              named === 'batching' ? { strategy: 'batching', config: { size: 10, timeout: 300 } } : {}
            const analytics = AnalyticsBrowser.load(
              { writeKey, cdnURL },
              { integrations: { 'Segment.io': { deliveryStrategy } } },
            )
            await analytics.ready()
            await analytics.identify(userId, { email: 'ada@example.com' })
            for (let number = 0; number < 40; number++) void analytics.track('Order completed', { number, total: 19.5 })
            void analytics.page('Start')
            void analytics.screen('Cart')
            void analytics.group('acme', { employees: 7 })
            void analytics.alias(userId, `${userId}-before`)
          },
          [stream.key, proxy.origin, person, strategy] as const,
        )
      }
      await onPage('segment/index.js', -49 * hourMs, call, 45)
      const sent = proxy.requests.slice(first).filter(({ method }) => method === 'POST')
      const paths = strategy === 'batching' ? ['/v1/b'] : ['/v1/a', '/v1/g', '/v1/i', '/v1/p', '/v1/s', '/v1/t']
      assert.deepEqual([...new Set(sent.map(({ path }) => path))].sort(), paths)
      assertRefused(sent)
      assertAllCalls(await eventsOf(person), person, /^analytics\.js$/)
    })
  }

  test('@rudderstack/analytics-js', async () => {
    const person = 'rudderstack browser'
    const first = proxy.requests.length
    proxy.answerNext(429, 503, 'lost')
    const call = async (page: Page) => {
      await page.evaluate(
        async ([writeKey, dataPlaneUrl, userId]) => {
          const { RudderAnalytics } = (
            globalThis as never as { rudderanalytics: { RudderAnalytics: new () => PageLibrary } }
          ).rudderanalytics
          const analytics = new RudderAnalytics()
          analytics.load(writeKey, dataPlaneUrl, { configUrl: dataPlaneUrl })
          analytics.identify(userId, { email: 'ada@example.com' })
          for (let number = 0; number < 40; number++) analytics.track('Order completed', { number, total: 19.5 })
          analytics.page('Start')
          analytics.group('acme', { employees: 7 })
          analytics.alias(userId, `${userId}-before`)
        },
        [stream.key, proxy.origin, person] as const,
      )
    }
    await onPage('rudderstack.js', 5 * hourMs, call, 44)
    assertRefused(proxy.requests.slice(first))
    assertAllCalls(await eventsOf(person, 'context.traits.email'), person, /^RudderLabs JavaScript SDK$/, false)
  })

  test('sendBeacon, as a page sends its last events', async () => {
    const send = async (page: Page) => {
      for (const type of ['text/plain', 'application/json', 'text/plain']) {
        const isQueued = await page.evaluate(
          ([address, media]) => {
            const batch = [{ type: 'track', event: 'Left', userId: `beacon ${media}`, messageId: `left ${media}` }]
            const { sendBeacon } = navigator as never as { sendBeacon(to: string, content: Blob): boolean }
            return sendBeacon.call(navigator, address, new Blob([JSON.stringify({ batch })], { type: media }))
          },
          [`${proxy.origin}/beacon/v1/batch?writeKey=${stream.key}`, type] as const,
        )
        assert(isQueued)
      }
    }
    await onPage('segment/index.js', 0, send, 2)
    for (const type of ['text/plain', 'application/json']) assert.equal((await eventsOf(`beacon ${type}`)).length, 1)
  })
})

/** A library on the page. */
type PageLibrary = Readonly<
  Record<
    'load' | 'ready' | 'identify' | 'track' | 'page' | 'screen' | 'group' | 'alias',
    (...given: unknown[]) => PageLibrary & Promise<unknown>
  >
>
