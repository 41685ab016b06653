/** Lists of options do not move while someone picks, so that a click hits the option under the pointer. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'

describe('lists of options in the console', { skip }, () => {
  let stage: ConsoleStage
  let accountId = ''
  before(async () => {
    stage = await startConsole()
    accountId = (await stage.addAccount('Acme Outdoor')).id
    await stage.addSides(accountId)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const option = (page: Page, name: string) => page.getByRole('option', { name, exact: true })
  const isPicked = async (one: Locator) => (await one.getAttribute('data-checked')) === 'true'

  /** The positions of options after the list has opened completely. */
  async function placesOf(page: Page, names: readonly string[]) {
    // A trial waits until the option stands still and nothing covers it.
    for (const name of names) await option(page, name).click({ trial: true })
    return Promise.all(names.map((name) => option(page, name).boundingBox()))
  }

  test('options keep their places when others are picked, and can be taken back where they are', async () => {
    const page = await stage.open('/webhooks')
    await page.getByRole('button', { name: 'Add a webhook' }).first().click()
    await page.getByRole('radio', { name: 'Selected types' }).check()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Event types' }).click()
    const names = (await page.getByRole('option').allTextContents()).slice(0, 5)
    assert.equal(names.length, 5)
    const places = await placesOf(page, names)
    for (const name of names) {
      await option(page, name).click()
      assert.deepEqual(await placesOf(page, names), places, `after ${name} was picked`)
      assert(await isPicked(option(page, name)))
    }
    await option(page, names[2] ?? '').click()
    assert.deepEqual(await placesOf(page, names), places)
    assert.deepEqual(await Promise.all(names.map((name) => isPicked(option(page, name)))), [
      true,
      true,
      false,
      true,
      true,
    ])
  })

  test('an option stays under the pointer while the list is read again, and the search stays', async () => {
    for (const name of ['Orders 1', 'Orders 2', 'Orders 3']) await stage.connect(accountId, name)
    const page = await stage.open(`/accounts/${accountId}/alerts?view=rules`)
    await page.getByRole('button', { name: 'Create alert rule' }).click()
    const control = page.getByRole('dialog').getByRole('combobox', { name: 'Connections' })
    await control.fill('Orders')
    const names = ['Orders 1', 'Orders 2', 'Orders 3']
    const places = await placesOf(page, names)
    // The newest are the first of a list that is read now.
    await stage.connect(accountId, 'Orders 4')
    const box = places[1]
    assert(box)
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    await page.mouse.down()
    const answered = page.waitForResponse((response) => /\/connections\?.*q=Orders/.test(response.url()))
    // The data is stale, and the window gets the focus again.
    await page.clock.install()
    await page.clock.fastForward(10_000)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
    await answered
    await option(page, 'Orders 4').waitFor()
    await page.mouse.up()
    assert.deepEqual(await placesOf(page, names), places)
    assert.deepEqual(await Promise.all(names.map((name) => isPicked(option(page, name)))), [false, true, false])
    assert.equal(await control.inputValue(), 'Orders')
  })
})
