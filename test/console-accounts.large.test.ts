import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'

describe('sub-accounts in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
  const choose = async (page: Page, name: string, action: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }

  test('the first one is added from the empty list', async () => {
    const page = await stage.open('/accounts')
    await page.getByText('No sub-accounts yet').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Add a sub-account' }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Acme Outdoor')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Save' }).click()
    await row(page, 'Acme Outdoor').waitFor()
    const { reply } = await stage.client.listAccounts({ query: { q: 'Acme Outdoor' } })
    assert.equal(reply[0]?.enabled, true)
  })

  test('what is added while the list is still being read is in the list', async () => {
    const page = await stage.open('/profile')
    let [lists, writesEnded] = [0, () => {}]
    const written = new Promise<void>((resolve) => {
      writesEnded = resolve
    })
    await page.route(/\/accounts\/figures(\?.*)?$/, async (route) => {
      if (route.request().method() !== 'GET' || !route.request().url().includes('/es/')) return route.continue()
      lists += 1
      const response = await route.fetch()
      if (lists === 1) await written
      await route.fulfill({ response })
    })
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sub-accounts' }).click()
    await page.getByRole('button', { name: 'Add a sub-account' }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Added in between')
    const answer = page.waitForResponse((response) => response.request().method() === 'POST' && response.ok())
    await page.getByRole('button', { name: 'Save' }).click()
    await answer
    writesEnded()
    await row(page, 'Added in between').waitFor()
  })

  test('a name that the service refuses is said at its field', async () => {
    const page = await stage.open('/accounts')
    await page.getByRole('button', { name: 'Add a sub-account' }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('   ')
    await page.getByRole('button', { name: 'Save' }).click()
    const field = page.getByRole('textbox', { name: 'Name' })
    await page.locator('[aria-invalid="true"]').waitFor()
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
  })

  test('one is disabled and enabled again', async () => {
    await stage.addAccount('Lakeside Hotels')
    const page = await stage.open('/accounts?q=Lakeside')
    await choose(page, 'Lakeside Hotels', 'Disable')
    await row(page, 'Lakeside Hotels').getByText('Disabled').waitFor()
    await choose(page, 'Lakeside Hotels', 'Enable')
    await row(page, 'Lakeside Hotels').getByText('Disabled').waitFor({ state: 'detached' })
  })

  test('a search that is still being typed does not call back who has left', async () => {
    const { id } = await stage.addAccount('Quick Start')
    const page = await stage.open('/accounts')
    await row(page, 'Quick Start').waitFor()
    // The script of the next page takes longer to load than the search waits for more letters.
    await page.route('**/*.js', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      await route.continue()
    })
    await page.getByRole('searchbox').pressSequentially('Q')
    await page.getByRole('link', { name: 'Quick Start' }).click()
    await page.getByRole('heading', { name: 'Quick Start' }).waitFor()
    assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, `/accounts/${id}`)
  })

  test('two who edit the same one see both versions, and either can stay', async () => {
    const { id } = await stage.addAccount('Summit')
    const page = await stage.open('/accounts?q=Summit')
    await choose(page, 'Summit', 'Edit')
    const name = page.getByRole('textbox', { name: 'Name' })
    await name.fill('Summit Mine')
    await page.waitForLoadState('networkidle')
    await stage.client.editAccount({ id, body: { name: 'Summit Theirs' } })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const changed = page.getByRole('alert').filter({ hasText: 'Modified by someone else' })
    await changed.getByRole('cell', { name: 'Summit Mine' }).waitFor()
    await changed.getByRole('cell', { name: 'Summit Theirs' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.equal((await stage.client.getAccount({ id })).reply.name, 'Summit Theirs', 'nothing is saved')
    await changed.getByRole('button', { name: 'Overwrite' }).click()
    await row(page, 'Summit Mine').waitFor()
    assert.equal((await stage.client.getAccount({ id })).reply.name, 'Summit Mine')
  })

  test('one is deleted by typing its name, after it was said what goes with it', async () => {
    const { id } = await stage.addAccount('Greenleaf Grocery')
    await stage.addSides(id)
    await stage.connect(id, 'Loyalty members', { activate: false })
    const page = await stage.open('/accounts?q=Greenleaf')
    await choose(page, 'Greenleaf Grocery', 'Delete')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Connections: 1 (Loyalty members)').waitFor()
    await dialog.getByText('Connectors and their secrets: 2').waitFor()
    const remove = dialog.getByRole('button', { name: 'Delete' })
    assert(await remove.isDisabled())
    await dialog.getByRole('textbox').fill('Greenleaf')
    assert(await remove.isDisabled())
    await dialog.getByRole('textbox').fill('Greenleaf Grocery')
    await remove.click()
    await page.getByText('No matching sub-accounts').waitFor()
    await assert.rejects(stage.client.getAccount({ id }), { code: 'not_found' })
  })

  test('search and page are in the address, and the list goes back with the browser', async () => {
    for (let n = 1; n <= 30; n++) await stage.addAccount(`Page ${String(n).padStart(2, '0')}`)
    const page = await stage.open('/accounts')
    await page.getByRole('searchbox').fill('Page')
    await page.waitForURL('**/accounts?q=Page')
    await page.getByText('1–25 of 30').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.waitForURL('**/accounts?q=Page&page=2')
    await page.getByText('26–30 of 30').waitFor()
    await page.goBack()
    await page.getByText('1–25 of 30').waitFor()
  })

  test('a name of 200 characters and one of markup stay what they are', async () => {
    const long = 'W'.repeat(200)
    await stage.addAccount(long)
    await stage.addAccount('<img src=x onerror=alert(1)>')
    const page = await stage.open('/accounts?q=WWW', { look: { width: 390, height: 844, theme: 'light' } })
    await page.getByText(long).waitFor()
    const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    assert((await page.evaluate<number>(wider)) <= 0)
    await page.getByRole('searchbox').fill('onerror')
    await page.getByText('<img src=x onerror=alert(1)>').waitFor()
    assert.equal(await page.locator('img[src="x"]').count(), 0)
    assert((await page.evaluate<number>(wider)) <= 0)
  })
})
