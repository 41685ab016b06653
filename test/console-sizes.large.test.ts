/** The first load of a list of the console, with scripts, styles, fonts and pictures: at most 300 kB, compressed. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'

/** Bytes over the network with headers, fonts and pictures, without the answers of the API. */
const firstLoadBytesMax = 314_000

describe('the first load of the console', { skip }, () => {
  let stage: ConsoleStage
  let accountId = ''
  before(async () => {
    stage = await startConsole()
    accountId = (await stage.addAccount('Acme Outdoor')).id
    await stage.addSides(accountId)
    await stage.connect(accountId, 'Orders')
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const ofAccount = (list: string) => () => `/accounts/${accountId}/${list}`
  const lists: Readonly<Record<string, () => string>> = {
    'sub-accounts': () => '/accounts',
    connections: ofAccount('connections'),
    connectors: ofAccount('connectors'),
    deleted: ofAccount('deleted'),
    people: () => '/people',
    webhooks: () => '/webhooks',
    'API keys': () => '/api-keys',
    'audit log': () => '/audit',
  }
  for (const [name, path] of Object.entries(lists)) {
    test(`${name}: at most ${firstLoadBytesMax} bytes`, async () => {
      const page = await stage.open('/accounts', { alone: true })
      await page.waitForLoadState('networkidle')
      await page.goto('about:blank')
      const devtools = await page.context().newCDPSession(page)
      const loaded: { readonly bytes: number; readonly requestId: string }[] = []
      const paths = new Map<string, string>()
      devtools.on('Network.responseReceived', ({ requestId, response }) => {
        paths.set(requestId, new URL(response.url).pathname)
      })
      devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength: bytes }) => {
        loaded.push({ bytes, requestId })
      })
      await devtools.send('Network.enable')
      await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
      await page.goto(path())
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      const own = loaded
        .map(({ bytes, requestId }) => ({ bytes, path: paths.get(requestId) ?? '' }))
        .filter((one) => !one.path.startsWith('/es/'))
      const bytes = own.reduce((sum, one) => sum + one.bytes, 0)
      assert(bytes > 100_000, `${bytes} bytes: the cache is used`)
      const largest = own.sort((a, b) => b.bytes - a.bytes).slice(0, 20)
      const report = largest.map((one) => `${one.bytes} ${one.path}`).join('\n')
      assert(bytes <= firstLoadBytesMax, `${bytes} bytes. The largest:\n${report}`)
    })
  }
})
