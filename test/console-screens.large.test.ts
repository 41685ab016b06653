/**
 * Every screen, at every size and in both themes: it is there, and nothing is wider than the window. axe-core finds nothing
 * in either theme, on a large window and on a phone. `npm run screenshots` runs this file and keeps what it sees in `docs/screenshots/`.
 */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, type Look, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { prepareScene, type Scene } from './harness/console-scene.ts'

const album = process.env.PENSTOCK_SCREENSHOTS
const shots = join(import.meta.dirname, '../docs/screenshots')

type Screen = {
  readonly name: string
  readonly path: (scene: Scene) => string
  /** Expected title. */
  readonly title: RegExp
  /** Further condition before the screen is checked. */
  readonly settle?: (page: Page) => Promise<unknown>
}

const ofAccount = (page: string) => (scene: Scene) => `/accounts/${scene.accountId}${page}`
const ofConnection = (page: string) => (scene: Scene) =>
  `/accounts/${scene.accountId}/connections/${scene.connectionId}${page}`
const dialog = (page: Page) => page.getByRole('dialog').waitFor()
const chart = (page: Page) => page.locator('.recharts-surface').first().waitFor()

const screens: readonly Screen[] = [
  { name: 'overview', path: () => '/', title: /Overview|organization/i, settle: chart },
  { name: 'start', path: ofAccount('/start'), title: /Move your first rows/ },
  { name: 'sub-accounts', path: () => '/accounts', title: /Sub-accounts/ },
  { name: 'sub-account', path: ofAccount(''), title: /Acme Outdoor/, settle: chart },
  { name: 'catalogue', path: ofAccount('/catalogue'), title: /Catalogue/ },
  { name: 'connectors', path: ofAccount('/connectors'), title: /Connectors/ },
  {
    name: 'configure-connector',
    path: (scene) => `/accounts/${scene.accountId}/connectors?configure=${scene.destinationId}`,
    title: /Connectors/,
    settle: dialog,
  },
  { name: 'connections', path: ofAccount('/connections'), title: /Connections/ },
  { name: 'connections-of-all', path: () => '/connections', title: /Connections/ },
  { name: 'new-connection', path: ofAccount('/connections/new'), title: /New connection/ },
  { name: 'connection', path: ofConnection(''), title: /Customers to warehouse/ },
  {
    name: 'transfer',
    path: (scene) => `${ofConnection('')(scene)}/transfers/${scene.transferId}`,
    title: /Transfer of/,
  },
  { name: 'deleted', path: ofAccount('/deleted'), title: /Deleted/ },
  { name: 'audit', path: () => '/audit', title: /Audit log/ },
  { name: 'find-person', path: () => '/find-person', title: /Find one person/ },
  { name: 'alerts', path: () => '/alerts', title: /Alerts/ },
  {
    name: 'create-alert-rule',
    path: () => '/alerts?view=rules',
    title: /Alerts/,
    settle: async (page) => {
      await page.getByRole('button', { name: 'Create rule' }).click()
      await page.getByRole('checkbox', { name: /no transfer of an active connection/ }).check()
    },
  },
  { name: 'people', path: () => '/people', title: /People/ },
  { name: 'sign-in-settings', path: () => '/sign-in-settings', title: /Sign-in settings/ },
  {
    name: 'set-up-single-sign-on',
    path: () => '/sign-in-settings',
    title: /Sign-in settings/,
    settle: async (page) => {
      await page.getByRole('button', { name: 'Set up single sign-on' }).click()
      await page.getByRole('radio', { name: 'Add them when they first sign in' }).check()
      await page.getByRole('checkbox', { name: 'Require single sign-on' }).check()
    },
  },
  { name: 'api-keys', path: () => '/api-keys', title: /API keys/ },
  {
    name: 'create-api-key',
    path: () => '/api-keys',
    title: /API keys/,
    settle: async (page) => {
      await page.getByRole('button', { name: 'Create an API key' }).first().click()
      await page.getByRole('radio', { name: 'Chosen scopes' }).check()
    },
  },
  { name: 'webhooks', path: () => '/webhooks', title: /Webhooks/ },
  {
    name: 'add-webhook',
    path: () => '/webhooks',
    title: /Webhooks/,
    settle: async (page) => {
      await page.getByRole('button', { name: 'Add a webhook' }).first().click()
      await page.getByRole('radio', { name: 'Chosen types' }).check()
    },
  },
  {
    name: 'webhook',
    path: (scene) => `/webhooks/${scene.webhookId}`,
    title: /example\.com/,
    settle: (page) => page.getByText('webhook.test').first().waitFor(),
  },
  {
    name: 'webhook-delivery',
    path: (scene) => `/webhooks/${scene.webhookId}`,
    title: /example\.com/,
    settle: (page) => page.getByRole('button', { name: 'Details of webhook.test' }).first().click(),
  },
  { name: 'branding', path: () => '/branding', title: /Branding/ },
  { name: 'connect-links', path: ofAccount('/connect-links'), title: /Connect links/ },
  {
    name: 'create-connect-link',
    path: ofAccount('/connect-links'),
    title: /Connect links/,
    settle: (page) => page.getByRole('button', { name: 'Create a connect link' }).first().click(),
  },
  { name: 'reports', path: () => '/reports', title: /Reports/, settle: chart },
  { name: 'reports-of-sub-account', path: ofAccount('/reports'), title: /Reports/, settle: chart },
]

const looks: readonly (Look & { readonly name: string })[] = [
  { name: '1440-light', width: 1440, height: 900, theme: 'light' },
  { name: '1440-dark', width: 1440, height: 900, theme: 'dark' },
  { name: '390-light', width: 390, height: 844, theme: 'light' },
  { name: '390-dark', width: 390, height: 844, theme: 'dark' },
  { name: '360-light', width: 360, height: 740, theme: 'light' },
  { name: '2560-light', width: 2560, height: 1440, theme: 'light' },
]
/** Where axe-core looks: each theme once, and a phone. */
const inspected = /^(1440-light|390-dark)$/
/** Where what moves while a screen loads is measured. */
const measured = /^(1440|390|360)-/
/** Sizes that are looked at by people too. */
const kept = /^(1440|390)-/
/** Each size and each theme; together they are looked at where pictures are taken. */
const looked = album ? looks : looks.filter(({ name }) => name !== '1440-dark' && name !== '390-light')

describe('every screen of the console', { skip }, () => {
  let stage: ConsoleStage
  let scene: Scene
  before(async () => {
    stage = await startConsole({ PENSTOCK_RETRY_SECONDS: '1' })
    scene = await prepareScene(stage)
    if (album) await mkdir(shots, { recursive: true })
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  for (const look of looked) {
    test(`at ${look.name}: nothing is clipped${inspected.test(look.name) ? ', and axe-core finds nothing' : ''}`, async () => {
      const page = await stage.open('/sign-in', { look, signedIn: false })
      await page.getByRole('heading', { level: 1 }).waitFor()
      const problems = await inspect(page, 'sign-in', look)
      const signedIn = await stage.open('/accounts', { look })
      await signedIn.addInitScript(observeLayoutShifts)
      for (const screen of screens) {
        await signedIn.goto(screen.path(scene))
        await signedIn.getByRole('heading', { level: 1, name: screen.title }).waitFor()
        await screen.settle?.(signedIn)
        await signedIn.waitForLoadState('networkidle')
        await signedIn.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
        if (measured.test(look.name)) problems.push(...(await layoutShifts(signedIn, screen.name)))
        problems.push(...(await inspect(signedIn, screen.name, look)))
      }
      assert.deepEqual(problems, [])
    })
  }
})

/** The layout shifts of a page that no one has caused, from its first paint. */
const observeLayoutShifts = `
  globalThis.layoutShifts = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue
      const moved = sources.map(({ node, previousRect, currentRect }) => {
        const element = node instanceof Element ? node : node?.parentElement
        return (element?.tagName ?? '?') + ' "' + (element?.textContent ?? '').slice(0, 40) + '" from ' +
          [previousRect.top, previousRect.height].map(Math.round) + ' to ' + [currentRect.top, currentRect.height].map(Math.round)
      })
      globalThis.layoutShifts.push({ value, moved })
    }
  }).observe({ type: 'layout-shift', buffered: true })
`
const mostLayoutShift = 0.05

/** Elements that moved on a screen while it loaded, if the shift is more than a reader would overlook. */
async function layoutShifts(page: Page, name: string): Promise<string[]> {
  type Shift = { readonly value: number; readonly moved: readonly string[] }
  const shifts = await page.evaluate<Shift[]>('globalThis.layoutShifts')
  const sum = shifts.reduce((total, { value }) => total + value, 0)
  if (sum <= mostLayoutShift) return []
  return shifts.map(({ value, moved }) => `${name}: a layout shift of ${value.toFixed(3)}: ${moved.join('; ')}`)
}

/** Looks at a screen; what is wrong with it, a line each. */
async function inspect(page: Page, name: string, look: Look & { readonly name: string }): Promise<string[]> {
  await page.evaluate('document.fonts.ready')
  if (album && kept.test(look.name)) await page.screenshot({ path: join(shots, `${name}-${look.name}.png`) })
  const wider = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  const found = inspected.test(look.name) ? await accessibilityViolations(page) : []
  const problems = found.map((error) => `${name}: ${error}`)
  return wider > 0 ? [`${name} is ${wider} px wider than the window`, ...problems] : problems
}
