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
