/** The search over everything and the keys of the console. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

describe('the search over everything', { skip }, () => {
  let stage: ConsoleStage
  let accountId = ''
  before(async () => {
    stage = await startConsole()
    accountId = (await stage.addAccount('Acme Winter')).id
    await stage.addSides(accountId)
    await stage.connect(accountId, 'Winter sale buyers')
    await stage.connect(accountId, 'Orders to warehouse')
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const search = (page: Page) => page.getByRole('combobox', { name: 'Search or jump to' })
  const selected = async (page: Page) => {
    const id = await search(page).getAttribute('aria-activedescendant')
    return id ? page.locator(`[id="${id}"]`).textContent() : null
  }

  test('opens what was found, by the keyboard alone', async () => {
    const page = await stage.open('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await search(page).waitFor()
    await page.keyboard.type('winter')
    const options = page.getByRole('option')
    await options.filter({ hasText: 'Winter sale buyers' }).first().waitFor()
    await page.getByRole('option', { name: 'Acme Winter', exact: true }).waitFor()
    await until('the best match is selected', async () => /Winter sale buyers/.test((await selected(page)) ?? ''))
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('ArrowDown')
    assert.match((await selected(page)) ?? '', /Acme Winter/)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/accounts/${accountId}`)
    await page.keyboard.press('Control+k')
    await search(page).waitFor()
    await page.keyboard.type('winter')
    await options.filter({ hasText: 'Winter sale buyers' }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Winter sale buyers' }).waitFor()
  })

  test('finds a sub-account with its actions, and names the sub-account and the status of each connection', async () => {
    const page = await stage.open('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await search(page).fill('acme wint')
    await page
      .getByRole('group', { name: 'Sub-accounts' })
      .getByRole('option', { name: /^Acme Winter/ })
      .waitFor()
    const actions = page.getByRole('group', { name: 'Actions in Acme Winter' })
    await actions.getByRole('option', { name: 'New connection' }).waitFor()
    const found = page.getByRole('group', { name: 'Related connections' }).getByRole('option').first()
    await found.getByText(/^Acme Winter · (?:Active|Draft|Failing)$/).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await actions.getByRole('option', { name: 'New connection' }).click()
    await page.waitForURL(`**/accounts/${accountId}/connections/new`)
  })

  test('leads to pages, does what it names, and says if nothing was found', async () => {
    const page = await stage.open(`/accounts/${accountId}`)
    await page.getByRole('button', { name: 'Search or jump to…' }).click()
    await page.getByRole('option', { name: 'Catalogue' }).click()
    await page.getByRole('heading', { name: 'What do you want to move?' }).waitFor()
    await page.getByRole('button', { name: 'Search or jump to…' }).click()
    await search(page).fill('dark')
    await page.getByRole('option', { name: /dark theme/ }).click()
    assert.equal(await page.locator('html').getAttribute('data-mantine-color-scheme'), 'dark')
    await page.getByRole('button', { name: 'Search or jump to…' }).click()
    await search(page).fill('100% %_ nothing')
    await page.getByText('Nothing found').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('Escape')
    await search(page).waitFor({ state: 'detached' })
  })

  test('keys open pages, and are left to text fields', async () => {
    const page = await stage.open(`/accounts/${accountId}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await page.getByRole('heading', { name: 'Connections' }).waitFor()
    await page.keyboard.press('/')
    const box = page.getByRole('searchbox')
    await page.waitForFunction("document.activeElement?.type === 'search'")
    await page.keyboard.type('g?c/')
    assert.equal(await box.inputValue(), 'g?c/')
    await box.fill('')
    await box.blur()
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await dialog.waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  test('a group of the navigation that was closed stays closed', async () => {
    const page = await stage.open(`/accounts/${accountId}`)
    const group = page.getByRole('button', { name: 'Developers' })
    await page.getByRole('link', { name: 'API keys' }).waitFor()
    await group.click()
    assert.equal(await group.getAttribute('aria-expanded'), 'false')
    assert.equal(await page.getByRole('link', { name: 'API keys' }).isVisible(), false)
    await page.reload()
    await page.getByRole('button', { name: 'Developers', expanded: false }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'API keys' }).isVisible(), false)
    assert.deepEqual(await accessibilityViolations(page), [])
  })
})
