import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { startReceiver } from './harness/receiver.ts'
import { until } from './harness/until.ts'

describe('webhooks in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const dialog = (page: Page) => page.getByRole('dialog')
  const choose = async (page: Page, action: string) => {
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }

  test('one is added, tested, replayed, rotated, disabled and deleted', async (t) => {
    const receiver = await startReceiver(t)
    const page = await stage.open('/webhooks')
    await page.getByText('No webhooks yet').waitFor()
    await page.getByRole('button', { name: 'Add a webhook' }).first().click()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('textbox', { name: 'Address' }).fill('http://example.com/')
    await dialog(page).getByRole('button', { name: 'Add a webhook' }).click()
    await dialog(page).getByText('must begin with https://').waitFor()
    await dialog(page).getByRole('textbox', { name: 'Address' }).fill(receiver.url)
    await dialog(page).getByRole('textbox', { name: 'Description' }).fill('On call')
    await dialog(page).getByRole('button', { name: 'Add a webhook' }).click()
    await page.getByText('This is the only time that the secret is shown').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const secret = await dialog(page).getByRole('textbox', { name: 'Secret' }).inputValue()
    await dialog(page).getByRole('button', { name: 'I have stored the secret' }).click()

    await page.getByText('No deliveries yet').waitFor()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('row').filter({ hasText: 'webhook.test' }).getByText('Delivered').waitFor()
    const [request] = receiver.requests
    assert(request)
    new Webhook(secret).verify(request.body, request.headers as Record<string, string>)
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('button', { name: 'Details of webhook.test' }).click()
    await dialog(page).getByText('answer of the receiver').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Send again' }).click()
    await dialog(page).getByText('Attempt 2').waitFor()
    await page.keyboard.press('Escape')
    await until('it was sent again', () => receiver.requests.length === 2)
    assert.equal(receiver.requests[1]?.body, request.body)

    await choose(page, 'Rotate the secret')
    await dialog(page).getByRole('button', { name: 'Rotate the secret' }).click()
    await dialog(page).getByRole('button', { name: 'I have stored the secret' }).click()
    await page.getByText('Events are also signed with the previous secret').waitFor()

    await choose(page, 'Replay')
    await dialog(page).getByLabel('Events since').fill('2026-01-01T00:00')
    await dialog(page).getByRole('checkbox', { name: 'Only failed events' }).uncheck()
    await dialog(page).getByRole('button', { name: 'Replay' }).click()
    await page.getByText('1 delivery is sent again').waitFor()
    await until('it was replayed', () => receiver.requests.length === 3)

    // A receiver that is gone.
    receiver.answer = () => 410
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('The service disabled this webhook').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await choose(page, 'Enable')
    await page.getByText('The webhook is enabled').waitFor()

    await choose(page, 'Delete')
    await dialog(page).getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No webhooks yet').waitFor()
  })
})
