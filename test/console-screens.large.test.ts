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
import { screens } from './harness/console-screens.ts'
import { layoutShifts, observeLayoutShifts } from './harness/layout-shifts.ts'

const album = process.env.PENSTOCK_SCREENSHOTS
const shots = join(import.meta.dirname, '../docs/screenshots')

const looks: readonly (Look & { readonly name: string })[] = [
  { name: '1440-light', width: 1440, height: 900, theme: 'light' },
  { name: '1440-dark', width: 1440, height: 900, theme: 'dark' },
  { name: '390-light', width: 390, height: 844, theme: 'light' },
  { name: '390-dark', width: 390, height: 844, theme: 'dark' },
  { name: '360-light', width: 360, height: 740, theme: 'light' },
  { name: '2560-light', width: 2560, height: 1440, theme: 'light' },
]
/** The looks that axe-core checks: each theme once, and a phone. */
const inspected = /^(1440-light|390-dark)$/
/** The looks in which movement during loading is measured. */
const measured = /^(1440|390|360)-/
/** Sizes that are looked at by people too. */
const kept = /^(1440|390)-/
/** Each size and each theme. All combinations are checked when pictures are taken. */
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

  test('at 900 px: the navigation is whole on every screen, and the page is not wider than the window', async () => {
    const page = await stage.open('/accounts', { look: { width: 900, height: 900, theme: 'light' } })
    const problems: string[] = []
    const opened = new Set<string>()
    for (const screen of screens) {
      // Screens that differ only in an opened part have the same frame.
      if (opened.has(screen.path(scene))) continue
      opened.add(screen.path(scene))
      await page.goto(screen.path(scene))
      await page.getByRole('heading', { level: 1, name: screen.title }).waitFor()
      await page.waitForLoadState('networkidle')
      const [links, found] = await page.evaluate<[number, string[]]>(frameProblems)
      const isOfAccount = screen.path(scene).startsWith('/accounts/')
      assert(links >= (isOfAccount ? 17 : 14), `${screen.name} has ${links} links`)
      problems.push(...found.map((problem) => `${screen.name}: ${problem}`))
      problems.push(
        ...(await inspect(page, screen.name, { name: '900-light', width: 900, height: 900, theme: 'light' })),
      )
    }
    assert.deepEqual(problems, [])
  })

  test('the navigation keeps the sub-account on pages of the organization, until all are shown', async () => {
    const page = await stage.open(`/accounts/${scene.accountId}/connections`)
    const navigation = page.getByRole('navigation', { name: 'Main' })
    const switcher = navigation.getByRole('button', { name: /^Switch sub-account: / })
    const shown = async (name: string) =>
      navigation.getByRole('button', { name: `Switch sub-account: ${name}` }).waitFor()
    await shown('Acme Outdoor')
    await navigation.getByRole('link', { name: 'People' }).click()
    await page.getByRole('heading', { level: 1, name: 'People' }).waitFor()
    await shown('Acme Outdoor')
    await page.reload()
    await shown('Acme Outdoor')
    await navigation.getByRole('link', { name: 'Reports' }).click()
    await page.waitForURL(`**/accounts/${scene.accountId}/reports`)
    await switcher.click()
    await page.getByRole('option', { name: 'All sub-accounts' }).click()
    await shown('All sub-accounts')
    await navigation.getByRole('link', { name: 'People' }).click()
    await page.getByRole('heading', { level: 1, name: 'People' }).waitFor()
    await shown('All sub-accounts')
  })
})

/** Finds links of the navigation that are cut or covered, and a top bar that scrolls away, as lines of text. */
const frameProblems = `(async () => {
  const problems = []
  // A dialog covers the page on purpose.
  const isCovered = document.querySelector('[role="dialog"]') !== null
  const inWindow = ({ left, right }) => left >= 0 && right <= innerWidth
  const links = [...document.querySelectorAll('nav[aria-label="Main"] a')].filter((one) => one.checkVisibility())
  for (const link of links) {
    const label = link.querySelector('.mantine-NavLink-label')
    if (!inWindow(link.getBoundingClientRect())) problems.push(link.textContent + ' is outside of the window')
    if (label && label.scrollWidth > label.clientWidth) problems.push(link.textContent + ' is cut')
    link.scrollIntoView({ block: 'nearest' })
    const { left, top, width, height } = link.getBoundingClientRect()
    if (!isCovered && !link.contains(document.elementFromPoint(left + width / 2, top + height / 2))) problems.push(link.textContent + ' is covered')
  }
  const header = document.querySelector('header')
  for (const one of header.querySelectorAll('a, button')) {
    if (one.checkVisibility() && !inWindow(one.getBoundingClientRect())) problems.push('A button of the top bar is outside of the window')
  }
  scrollTo(0, document.documentElement.scrollHeight / 2)
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const { top } = header.getBoundingClientRect()
  if (top !== 0) problems.push('The top bar is at ' + top + ' px')
  scrollTo(0, 0)
  return [links.length, problems]
})()`

/** Inspects a screen. Returns its problems, one per line. */
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
