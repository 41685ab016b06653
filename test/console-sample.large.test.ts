/** The result of the sample: at each size and in both themes, axe-core finds nothing, nothing is cut, and nothing moves. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, type Look, launchBrowser, openPage, setLook, skip } from './harness/browser.ts'
import { layoutShifts, observeLayoutShifts } from './harness/layout-shifts.ts'
import { ownerLink } from './harness/owner-link.ts'
import { prepareStage } from './harness/process.ts'

const looks: readonly Look[] = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 1440, height: 900, theme: 'dark' },
  { width: 390, height: 844, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]
const album = process.env.PENSTOCK_PICTURES

describe('the result of the sample', { skip }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchBrowser()
  })
  after(() => browser?.close())

  test('has no finding of axe, fits, does not move, and is removed by the keyboard', async (t) => {
    const stage = await prepareStage(t)
    const { url } = await stage.serve()
    const path = await ownerLink(await stage.databaseUrl(), url)
    const opened = await openPage(browser, url)
    t.after(() => opened.close())
    const { page } = opened
    page.setDefaultTimeout(30_000)
    await page.goto(path)
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('ada@example.com')
    await page.getByRole('textbox', { name: 'Your name' }).fill('Ada Lopez')
    await page.locator('input[autocomplete="new-password"]').fill('a sentence of its own kind')
    await page.getByRole('button', { name: 'Set the password and sign in' }).click()
    await page.addInitScript(observeLayoutShifts)
    await page.getByRole('button', { name: 'Move sample data' }).click()
    const moved = page.getByRole('heading', { level: 1, name: '1,985 people are in the table people' })
    await moved.waitFor()
    const address = page.url()
    const problems: string[] = []
    for (const look of looks) {
      await setLook(page, look)
      await page.goto(address)
      await moved.waitFor()
      await page.getByRole('region', { name: 'The first rows of the table people' }).getByText('1957-06-12').waitFor()
      await page.getByText('is not a valid date').filter({ visible: true }).first().waitFor()
      await page.waitForLoadState('networkidle')
      const at = `${look.width} ${look.theme}`
      if (album) await page.screenshot({ path: `${album}/sample-${look.width}-${look.theme}.png`, fullPage: true })
      const wider = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      if (wider > 0) problems.push(`${at}: ${wider} px wider than the window`)
      problems.push(...(await layoutShifts(page, at)))
      problems.push(...(await accessibilityViolations(page)).map((problem) => `${at}: ${problem}`))
    }
    const remove = page.getByRole('button', { name: 'Remove the sample' }).first()
    await remove.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    for (const look of looks) {
      await setLook(page, look)
      problems.push(...(await accessibilityViolations(page)).map((problem) => `the dialog: ${problem}`))
    }
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await remove.and(page.locator(':focus')).waitFor()
    assert.deepEqual(problems, [])
  })
})
