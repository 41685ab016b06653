import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, type Look, launchBrowser, openPage, skip } from './harness/browser.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { until } from './harness/until.ts'

/** The documentation in a browser: axe-core finds nothing, nothing is wider than the window, and the search works without a script. */

const looks: readonly Look[] = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]
const pages = [
  '/docs/guides',
  '/docs/guides/getting-started',
  '/docs/guides/api-decisions',
  '/docs/guides?q=webhook+signature',
  '/docs/connectors',
  '/docs/connectors/postgresql',
  '/docs/platforms/meta-ads',
  // There is no such page.
  '/nonsense',
]

/** Scalar draws the reference: its colors differ with the theme, its landmarks with the width. */
const looksOfReference: readonly Look[] = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 1440, height: 900, theme: 'dark' },
  { width: 390, height: 844, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]
const pagesOfReference = ['/docs', '/docs#tag/connections/POST/es/v2/connections']

describe('the documentation in a browser', { skip }, () => {
  let service: TestService
  let browser: Browser
  let url: string
  before(async () => {
    service = await startTestService()
    url = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.close()
  })

  for (const look of looks) {
    for (const path of pages) {
      test(`${path} at ${look.width}, ${look.theme}`, async () => {
        const { page, close } = await openPage(browser, url, { look })
        await page.goto(path)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        assert.deepEqual(await accessibilityViolations(page), [])
        assert(await page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'))
        await close()
      })
    }
  }

  for (const look of looksOfReference) {
    test(`the reference at ${look.width}, ${look.theme}`, async () => {
      for (const path of pagesOfReference) {
        const { page, close } = await openPage(browser, url, { look })
        await page.goto(path)
        await page.getByRole('heading', { name: path === '/docs' ? 'Penstock API' : 'Create a connection' }).waitFor()
        await page.waitForLoadState('networkidle')
        assert.deepEqual(await accessibilityViolations(page), [])
        assert(await page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'))
        await close()
      }
    })
  }

  test('the pictures of a guide are shown, with a text alternative', async () => {
    const { page, close } = await openPage(browser, url)
    await page.goto('/docs/guides/getting-started')
    const pictures = await page.getByRole('img').all()
    assert(pictures.length > 0)
    for (const picture of pictures) {
      await picture.scrollIntoViewIfNeeded()
      await until('the picture is there', () =>
        picture.evaluate((image) => 'naturalWidth' in image && Number(image.naturalWidth) > 0),
      )
    }
    await close()
  })

  test('the reference keeps the theme that a reader has chosen', async () => {
    const { page, close } = await openPage(browser, url, { look: { width: 1440, height: 900, theme: 'dark' } })
    await page.goto('/docs')
    await page.locator('body.dark-mode').waitFor()
    await page.getByRole('button', { name: /light mode/i }).click()
    await page.locator('body.light-mode').waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Penstock API' }).waitFor()
    await page.locator('body.light-mode').waitFor()
    await close()
  })

  test('the search leads to a section, by the keyboard alone', async () => {
    const { page, close } = await openPage(browser, url)
    await page.goto('/docs/guides')
    await page.getByRole('searchbox', { name: 'Search the guides' }).fill('restore a backup')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Search the guides' }).waitFor()
    await page
      .getByRole('main')
      .getByRole('link', { name: /Backup/ })
      .first()
      .click()
    await page.waitForURL(/\/docs\/guides\/[\w-]+#/)
    await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
    await close()
  })
})
