import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { createClient } from '@penstock/client'
import { userRoles } from '@penstock/wire'
import type { Page } from 'playwright-core'
import { accessibilityViolations, pick, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'

describe('API keys in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
  const dialog = (page: Page) => page.getByRole('dialog')
  const choose = async (page: Page, name: string, action: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  /** The credentials that a dialog shows, once it is closed. */
  const shown = async (page: Page) => {
    const clientId = await dialog(page).getByRole('textbox', { name: 'Client ID' }).inputValue()
    const clientSecret = await dialog(page).getByRole('textbox', { name: 'Client secret' }).inputValue()
    await dialog(page).getByRole('button', { name: 'I have stored the secret' }).click()
    await dialog(page).waitFor({ state: 'detached' })
    assert(!(await page.content()).includes(clientSecret), 'the secret is shown once')
    return { clientId, clientSecret }
  }
  const clientOf = (credentials: { clientId: string; clientSecret: string }) =>
    createClient({ baseUrl: stage.url, ...credentials })
  const refused = (credentials: { clientId: string; clientSecret: string }) =>
    assert.rejects(clientOf(credentials).listAccounts(), { status: 401 })

  test('one is created, works elsewhere, is rotated and revoked', async () => {
    const page = await stage.open('/api-keys')
    await page.getByRole('button', { name: 'Create an API key' }).first().click()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Nightly jobs')
    await dialog(page).getByRole('button', { name: 'Create an API key' }).click()
    await page.getByText('This is the only time that the secret is shown').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    // Neither the key nor a click next to it closes a dialog that cannot be shown again.
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await dialog(page).getByRole('button', { name: 'Copy client secret' }).click()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    const first = await shown(page)
    assert.equal(copied, first.clientSecret)
    await row(page, 'Nightly jobs').getByText('Everything').filter({ visible: true }).waitFor()
    await row(page, 'Nightly jobs').getByText('All sub-accounts').filter({ visible: true }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await clientOf(first).listAccounts()

    // With an overlap, both secrets are accepted, and the list says so.
    await choose(page, 'Nightly jobs', 'Rotate the secret')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Rotate the secret' }).click()
    const second = await shown(page)
    await row(page, 'Nightly jobs').getByText('The previous secret still works. It expires').waitFor()
    await clientOf(first).listAccounts()
    await clientOf(second).listAccounts()

    // Without an overlap, the present secret and its tokens end immediately.
    const running = clientOf(second)
    await running.listAccounts()
    await choose(page, 'Nightly jobs', 'Rotate the secret')
    await dialog(page).getByText('It stops working as soon as you rotate again').waitFor()
    await pick(dialog(page).getByRole('combobox', { name: 'Accept current secret for' }), 'Not at all')
    await dialog(page).getByText('Programs with the current secret stop working immediately').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Rotate the secret' }).click()
    const third = await shown(page)
    for (const credentials of [first, second]) await refused(credentials)
    await assert.rejects(running.listAccounts(), { status: 401 })
    const last = clientOf(third)
    await last.listAccounts()

    await choose(page, 'Nightly jobs', 'Rename')
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Hourly jobs')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await choose(page, 'Hourly jobs', 'Revoke')
    await dialog(page).getByText('all session tokens that it created').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Revoke' }).click()
    await row(page, 'Hourly jobs').waitFor({ state: 'detached' })
    await refused(third)
    await assert.rejects(last.listAccounts(), { status: 401 })
  })

  test('one gets chosen scopes, named sub-accounts and an expiry, on a phone', async () => {
    const { id } = await stage.addAccount('Acme Outdoor')
    await stage.addAccount('Northwind Retail')
    const page = await stage.open('/api-keys', { look: { width: 390, height: 844, theme: 'dark' } })
    await page.getByRole('button', { name: 'Create an API key' }).first().click()
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Reader of Acme')
    await dialog(page).getByRole('radio', { name: 'Selected scopes' }).check()
    await dialog(page).getByRole('button', { name: 'Viewer' }).click()
    await dialog(page).getByRole('checkbox', { name: 'reports:read' }).uncheck()
    await dialog(page).getByRole('checkbox', { name: 'transfers:run' }).check()
    await dialog(page).getByText('Start, replay and cancel transfers, and set schedules').waitFor()
    await dialog(page).getByRole('radio', { name: 'Only these' }).check()
    await dialog(page).getByRole('button', { name: 'Create an API key' }).click()
    await dialog(page).getByText('Choose at least one sub-account.').waitFor()
    await dialog(page).getByRole('combobox', { name: 'Allowed sub-accounts' }).fill('Acme')
    await page.getByRole('option', { name: 'Acme Outdoor' }).click()
    await page.keyboard.press('Escape')
    await pick(dialog(page).getByRole('combobox', { name: 'Expires' }), 'In 30 days')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Create an API key' }).click()
    const key = await shown(page)
    const { reply: client } = await stage.client.getClient({ id: key.clientId })
    const scopes = [...userRoles.viewer.filter((scope) => scope !== 'reports:read'), 'transfers:run']
    assert.deepEqual(client.scopes?.toSorted(), scopes.toSorted())
    assert.deepEqual(client.accountIds, [id])
    const days = ((client.expiresTime ?? 0) - client.createdTime) / 86_400
    assert(days > 29 && days <= 30, String(days))
    assert.deepEqual(
      (await clientOf(key).listAccounts()).reply.map(({ name }) => name),
      ['Acme Outdoor'],
    )
    await assert.rejects(clientOf(key).addAccount({ body: { name: 'No' } }), { status: 403 })
    const created = row(page, 'Reader of Acme').filter({ visible: true })
    await created.getByText('Transfers: view, run').filter({ visible: true }).waitFor()
    await created.getByText('Acme Outdoor').filter({ visible: true }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    assert((await page.evaluate<number>(wider)) <= 0)
  })

  test('those that the operator chose say where they are managed, and search finds a part of a name', async () => {
    for (let n = 1; n <= 27; n++) await stage.client.createClient({ body: { name: `Batch ${n}` } })
    const page = await stage.open('/api-keys?q=batch')
    await page.getByText('1–25 of 27').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('26–27 of 27').waitFor()
    await page.getByRole('searchbox').fill('')
    await page.waitForURL('**/api-keys')
    await page.getByRole('button', { name: 'Page 2' }).click()
    const own = row(page, stage.credentials.clientId)
    await own.getByText('Current session').waitFor()
    await own.getByRole('button', { name: /^Actions for/ }).click()
    const revoke = page.getByRole('menuitem', { name: 'Revoke' })
    await page.getByText('Manage it with the command line').first().waitFor()
    assert.equal(await revoke.getAttribute('aria-disabled'), 'true')
  })
})
