import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, describe, test } from 'node:test'
import { createClient } from '@penstock/client'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'

describe('the audit log in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

  test('says who did what, from what to what; filters and export keep the same', async () => {
    const { id } = await stage.addAccount('Acme Outdoor')
    await stage.client.editAccount({ id, body: { name: 'Acme Outdoors' } })
    const { reply: key } = await stage.client.createClient({
      body: { name: 'Reader', scopes: ['accounts:read'], accountIds: [id] },
    })
    const reader = createClient({ baseUrl: stage.url, clientId: key.id, clientSecret: key.clientSecret })
    await reader.listAccounts()
    await stage.addAccount('Northwind Retail')

    const page = await stage.open('/audit')
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
    const edited = row(page, 'Edit account')
    await edited.getByText('Acme Outdoor → Acme Outdoors').filter({ visible: true }).waitFor()
    await edited.getByText('First client').filter({ visible: true }).waitFor()
    await row(page, 'Create an API key').waitFor()
    assert(!(await page.content()).includes(key.clientSecret))
    assert.deepEqual(await accessibilityViolations(page), [])

    await edited.getByRole('button', { name: 'Details of event' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Request ID').waitFor()
    const changes = dialog.getByRole('region', { name: 'Changes' })
    await changes.getByRole('cell', { name: 'Acme Outdoors', exact: true }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Only this resource' }).click()
    await page.waitForURL(`**/audit?targetId=${id}`)
    await row(page, 'Create an API key').waitFor({ state: 'detached' })
    await row(page, 'Add account').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export as NDJSON' }).click()
    const lines = (await readFile(await (await saved).path(), 'utf8')).trim().split('\n')
    const actions = lines.map((line) => JSON.parse(line)).map(({ action, targetId }) => `${action} ${targetId}`)
    assert.deepEqual(actions, [`editAccount ${id}`, `addAccount ${id}`])

    await page.getByRole('button', { name: 'Remove the filter: Only Acme Outdoors' }).click()
    await row(page, 'Create an API key').waitFor()
    await page.getByText(/ events verified: nothing was changed or removed\.$/).waitFor()

    // Searches by the present name of the object, in events that do not contain it, by a person, and by a change.
    const search = page.getByRole('searchbox', { name: 'Search the log' })
    await search.fill('outdoors')
    await row(page, 'Create an API key').waitFor({ state: 'detached' })
    await row(page, 'Add account').waitFor()
    await search.fill('no')
    await page.getByText('Enter at least three consecutive letters or digits.').waitFor()
    await row(page, 'Create an API key').waitFor()
    await search.fill('')
    await page.getByRole('combobox', { name: 'Who' }).click()
    await page.getByRole('option', { name: 'Reader' }).click()
    await page.waitForURL(`**/audit?actorId=${key.id}`)
    await row(page, 'Create an API key').waitFor({ state: 'detached' })
    await row(page, 'Get an access token').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Remove the filter: Who', includeHidden: true }).click()
    await row(page, 'Create an API key').waitFor()
    await page.getByRole('combobox', { name: 'Action' }).click()
    await page.getByRole('option', { name: 'Add account' }).click()
    await page.waitForURL('**/audit?action=addAccount')
    await row(page, 'Create an API key').waitFor({ state: 'detached' })
    await row(page, 'Northwind Retail').waitFor()
    await page.getByLabel('Until').fill('2020-01-01')
    await page.getByText('No matching events').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await row(page, 'Create an API key').waitFor()
  })

  test('of one sub-account it has what concerns that alone, on a phone', async () => {
    const { id } = await stage.addAccount('Greenleaf Grocery')
    await stage.addAccount('Lakeside Hotels')
    const page = await stage.open(`/accounts/${id}/audit`, { look: { width: 390, height: 844, theme: 'dark' } })
    await row(page, 'Greenleaf Grocery').waitFor()
    assert.equal(await row(page, 'Lakeside Hotels').count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
    const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    assert((await page.evaluate<number>(wider)) <= 0)
  })
})
