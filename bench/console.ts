/**
 * `npm run bench:console`: how soon the console appears and responds, in Chromium with a processor four times slower than this
 * machine's, on a list of 10,000 connections; and the overview of 300, at this machine's own speed. Each figure is shown next to
 * its bound. A figure above its bound is reported but is not a failure.
 */
import type { CDPSession, Page } from 'playwright-core'
import { launchBrowser, skip } from '../test/harness/browser.ts'
import { startPostgres } from './environment.ts'
import { median } from './measure.ts'
import { startService } from './service.ts'

const connections = 10_000
const overviewConnections = 300
const slowdown = 4
const rounds = 5
const bounds = { firstLoadBytes: 300_000, contentMs: 1_500, clickMs: 100, overviewMs: 1_000 }

if (skip) {
  console.error(`The console cannot be measured: ${skip}`)
  process.exit(1)
}

await using cleanup = new AsyncDisposableStack()
const postgres = await startPostgres(cleanup)
const service = await startService(postgres, 'console', { accounts: 1, connectionsPerAccount: connections })
cleanup.defer(() => service.stop())
const browser = await launchBrowser()
cleanup.defer(() => browser.close())

const accountId = service.loaded.accountIds[0] ?? ''
const list = `/accounts/${accountId}/connections`
const rows = 'tbody tr'

say(`${connections.toLocaleString('en')} connections in one sub-account, a processor ${slowdown} times slower.`)
say(`\n${'Figure'.padEnd(56)}${['measured', 'bound', 'of it'].map((text) => text.padStart(14)).join('')}`)
row('First load of the list, compressed', await firstLoadBytes(list), bounds.firstLoadBytes, 'bytes')
row('Navigation until the rows are there, nothing cached', await times(contentMs), bounds.contentMs, 'ms')
row('Click on the next page until it is answered', await times(clickMs), bounds.clickMs, 'ms')
row('Click on the next page until its rows are there', await times(rowsMs), undefined, 'ms')
row(`Overview of ${overviewConnections}, nothing cached, own speed`, await overviewMs(), bounds.overviewMs, 'ms')

/** Bytes over the network until a page is there, on a first visit with an empty cache, without the API's responses. */
async function firstLoadBytes(path: string): Promise<number> {
  const { page, devtools } = await signedIn()
  let bytes = 0
  const answers = new Set<string>()
  devtools.on('Network.responseReceived', ({ requestId, response }) => {
    if (new URL(response.url).pathname.startsWith('/es/')) answers.add(requestId)
  })
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!answers.has(requestId)) bytes += encodedDataLength
  })
  await devtools.send('Network.enable')
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
  await page.goto(path)
  await page.waitForLoadState('networkidle')
  await page.context().close()
  return bytes
}

async function contentMs(): Promise<number> {
  const { page, devtools } = await signedIn()
  await devtools.send('Network.enable')
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
  await slowDown(devtools)
  await page.goto(list, { waitUntil: 'commit' })
  // Both instants are the page's own, so that no way between processes is measured.
  const at = await page.evaluate<number>(`new Promise((resolve) => {
    const look = () => document.querySelectorAll('${rows}').length > 20 ? resolve(performance.now()) : requestAnimationFrame(look)
    look()
  })`)
  await page.context().close()
  return at
}

/**
 * The time until the browser has painted the first change of the page after the click. The entries of `event` timing omit events
 * below 16 ms, and do not show what the person sees.
 */
async function clickMs(): Promise<number> {
  const { page } = await onList()
  const ms = await page.evaluate<number>(`(async () => {
    const changed = new Promise((resolve) => {
      const observer = new MutationObserver(() => { observer.disconnect(); resolve() })
      observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
    })
    const begun = performance.now()
    document.querySelector('[aria-label="Next page"]').click()
    await changed
    // The frame with the change is painted between this callback and the task after it.
    await new Promise(requestAnimationFrame)
    await new Promise((resolve) => setTimeout(resolve))
    return performance.now() - begun
  })()`)
  await page.context().close()
  return ms
}

async function rowsMs(): Promise<number> {
  const { page } = await onList()
  const ms = await page.evaluate<number>(`(async () => {
    const first = () => document.querySelector('${rows}')?.textContent
    const before = first()
    const begun = performance.now()
    document.querySelector('[aria-label="Next page"]').click()
    while (first() === before) await new Promise(requestAnimationFrame)
    return performance.now() - begun
  })()`)
  await page.context().close()
  return ms
}

/** Until an overview shows everything, in a sub-account of a service with fewer connections. */
async function overviewMs(): Promise<number> {
  const size = { accounts: 1, connectionsPerAccount: overviewConnections }
  await using other = await startService(postgres, 'overview', size).then((started) => ({
    ...started,
    [Symbol.asyncDispose]: () => started.stop(),
  }))
  const measure = async () => {
    const { page, devtools } = await signedIn(other)
    await devtools.send('Network.enable')
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
    await page.goto(`/accounts/${other.loaded.accountIds[0]}`, { waitUntil: 'commit' })
    const at = await page.evaluate<number>(`new Promise((resolve) => {
      const isThere = () => document.querySelector('main h1, main h2') && !document.querySelector('.mantine-Skeleton-root')
      const look = () => isThere() ? resolve(performance.now()) : requestAnimationFrame(look)
      look()
    })`)
    await page.context().close()
    return at
  }
  return await times(measure)
}

async function onList(): Promise<{ page: Page }> {
  const { page, devtools } = await signedIn()
  await page.goto(list)
  await page.locator(rows).nth(20).waitFor()
  await page.waitForLoadState('networkidle')
  await slowDown(devtools)
  return { page }
}

/** A separate browser, signed in, on no page of the console. */
async function signedIn({ url, token } = service): Promise<{ page: Page; devtools: CDPSession }> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.addInitScript(
    (session) => localStorage.setItem('penstock.session', session),
    JSON.stringify({ clientId: 'bench', token, expiresMs: Date.now() + 3_600_000 }),
  )
  return { page, devtools: await context.newCDPSession(page) }
}

async function slowDown(devtools: CDPSession): Promise<void> {
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
}

async function times(measure: () => Promise<number>): Promise<number> {
  const found: number[] = []
  for (let round = 0; round < rounds; round++) found.push(await measure())
  return median(found)
}

function row(name: string, measured: number, bound: number | undefined, unit: string): void {
  const show = (value: number | undefined) =>
    value === undefined ? '' : `${Math.round(value).toLocaleString('en')} ${unit}`
  const ratio = bound === undefined ? '' : (measured / bound).toFixed(2)
  const verdict = bound === undefined ? '' : measured <= bound ? 'ok' : 'OVER'
  say(`${name.padEnd(56)}${[show(measured), show(bound), ratio].map((text) => text.padStart(14)).join('')}  ${verdict}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
