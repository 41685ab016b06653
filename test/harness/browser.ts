import assert from 'node:assert/strict'
import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

/** A real browser: Chromium, where the machine has it; Debian's package chromium. */

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Where Chromium is; undefined where there is none, and the tests that need it say so. */
export const chromiumPath: string | undefined = [process.env.PENSTOCK_TEST_CHROMIUM, ...names.flatMap(placesOf)].find(
  (path) => path !== undefined && isProgram(path),
)

/** What the tests of the console say where they cannot run. */
export const skip = chromiumPath === undefined && 'there is no Chromium on this machine: apt-get install chromium'

/** Neither of the two calls home, which a closed network makes slow. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const launchBrowser = (): Promise<Browser> => {
  assert(chromiumPath, 'there is no Chromium')
  return chromium.launch({ executablePath: chromiumPath, args: flags })
}

type Theme = 'light' | 'dark'
export type Look = { width: number; height: number; theme: Theme }

/**
 * Opens a page as somebody with a browser of his own. Fails the test that closes it where the page has thrown, or has
 * said an error that no refused call explains.
 */
export async function openPage(
  browser: Browser,
  baseURL: string,
  { width, height, theme }: Look = { width: 1440, height: 900, theme: 'light' },
): Promise<{ page: Page; close: () => Promise<void> }> {
  const context = await browser.newContext({
    baseURL,
    viewport: { width, height },
    colorScheme: theme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    acceptDownloads: true,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error.stack ?? error)))
  page.on('console', (message) => {
    const isOfCall = /Failed to load resource|net::ERR/.test(message.text())
    if (message.type() === 'error' && !isOfCall) faults.push(message.text())
  })
  return {
    page,
    close: async () => {
      await context.close()
      assert.deepEqual(faults, [], 'the page broke')
    },
  }
}

let axe: string | undefined

/** What axe-core finds wrong with a page, a line each. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  axe ??= readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
  // The policy of the page forbids scripts in it; the browser itself may run them.
  await page.evaluate(axe)
  return page.evaluate(async () => {
    type Axe = { run(): Promise<{ violations: { id: string; help: string; nodes: { html: string }[] }[] }> }
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run()
    return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 300)}`))
  })
}

function placesOf(name: string): string[] {
  return (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, name))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
