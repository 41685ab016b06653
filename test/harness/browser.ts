import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { findProgram, skipWithout } from './programs.ts'
import { until } from './until.ts'

/** A real browser: Chromium, if the machine has it (Debian's package chromium-headless-shell or chromium). */

/** Why the tests of the console cannot run. `false` if they can. */
export const skip = skipWithout('chromium')

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  // They call home, which a closed network makes slow.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The pages of a context are of one process, which has compiled the scripts of the console by its second page.
  '--process-per-site',
  // A page of a test does not live long enough to earn what the compilers that optimise take.
  '--js-flags=--no-maglev --no-turbofan',
]

export const launchBrowser = (): Promise<Browser> => {
  const executablePath = findProgram('chromium')
  assert(executablePath, 'there is no Chromium')
  return chromium.launch({ executablePath, args: flags })
}

type Theme = 'light' | 'dark'
export type Look = { width: number; height: number; theme: Theme }

export type PageOptions = {
  look?: Look
  /** Initial local storage of the site. */
  localStorage?: Readonly<Record<string, string>>
}

const usualLook: Look = { width: 1440, height: 900, theme: 'light' }

/** A browser that no one has used: its own cookies, storage and cache. */
export const openContext = (
  browser: Browser,
  baseURL: string,
  { look: { width, height, theme } = usualLook, localStorage = {} }: PageOptions = {},
): Promise<BrowserContext> =>
  browser.newContext({
    baseURL,
    viewport: { width, height },
    colorScheme: theme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    acceptDownloads: true,
    storageState: {
      cookies: [],
      origins: [
        { origin: baseURL, localStorage: Object.entries(localStorage).map(([name, value]) => ({ name, value })) },
      ],
    },
  })

export type OpenedPage = { readonly page: Page; close(): Promise<void> }

/**
 * Opens a page in a separate browser context. Closing it fails the test if the page has thrown, or has logged an error that is
 * not explained by a refused call.
 */
export async function openPage(browser: Browser, baseURL: string, options: PageOptions = {}): Promise<OpenedPage> {
  const context = await openContext(browser, baseURL, options)
  const { page, close } = await openPageIn(context)
  return {
    page,
    close: async () => {
      await context.close()
      await close()
    },
  }
}

/** The same in a context that other pages share. */
export async function openPageIn(context: BrowserContext, look?: Look): Promise<OpenedPage> {
  const page = await context.newPage()
  if (look) await setLook(page, look)
  // Limits the wait for something that never comes. On a busy machine, everything can take long.
  page.setDefaultTimeout(20_000)
  const pageErrors: string[] = []
  page.on('pageerror', (error) => pageErrors.push(String(error.stack ?? error)))
  page.on('console', (message) => {
    const isOfCall = /Failed to load resource|net::ERR/.test(message.text())
    if (message.type() === 'error' && !isOfCall) pageErrors.push(message.text())
  })
  return {
    page,
    close: async () => {
      await page.close()
      assert.deepEqual(pageErrors, [], 'the page broke')
    },
  }
}

/** Two frames, then the end of all transitions: the page hears of a new theme in a frame, and its colours change gradually. */
const settled = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
  Promise.allSettled(document.getAnimations().flatMap((one) => (one instanceof CSSTransition ? [one.finished] : []))))`

/** Resizes the window of a page, switches the theme of its system, and waits until the page looks so. */
export async function setLook(page: Page, { width, height, theme }: Look): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: theme })
  await page.evaluate(settled)
}

const pickedWithinMs = 5_000

/** Picks an option. The list moves once there is too little space below, so that a click on a busy machine can miss it. */
export async function pick(control: Locator, name: string): Promise<void> {
  const option = control.page().getByRole('option', { name, exact: true })
  const isPicked = async () => (await control.inputValue()) === name
  for (let tries = 0; tries < 5 && !(await isPicked()); tries++) {
    if (!(await option.isVisible())) await control.click()
    await option.click()
    await until(`${name} is picked`, isPicked, pickedWithinMs).catch(() => {})
  }
  assert.equal(await control.inputValue(), name)
}

let axe: string | undefined

/**
 * Violations that axe-core finds on a page, a line each.
 * @param within a selector: looks only there
 */
export async function accessibilityViolations(page: Page, within?: string): Promise<string[]> {
  axe ??= readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
  // The policy of the page forbids scripts in it, but the browser itself can run them.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe)
  return page.evaluate(async (selector) => {
    type Violation = { id: string; help: string; nodes: { html: string }[] }
    type Options = { resultTypes: string[] }
    type Axe = { run(within: string, options: Options): Promise<{ violations: Violation[] }> }
    // Passed rules are not reported.
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(selector ?? 'html', {
      resultTypes: ['violations'],
    })
    return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 300)}`))
  }, within)
}
