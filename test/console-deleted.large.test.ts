import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, postgresql, preparePeople, startConsole } from './harness/console.ts'

describe('the list of what is deleted', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 1)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  /** A separate sub-account, with a connection that is deleted. */
  async function prepare(account: string, ...names: string[]) {
    const { id: accountId } = await stage.addAccount(account)
    await stage.addSides(accountId)
    for (const name of names) {
      const { id } = await stage.connect(accountId, name)
      await stage.client.deleteConnection({ accountId, id })
    }
    return { accountId, path: `/accounts/${accountId}/deleted` }
  }
  const statusOf = async (accountId: string, q: string) =>
    (await stage.client.listConnections({ accountId, query: { q } })).reply[0]?.status

  test('restores a connection, and leads to it', async () => {
    const { accountId, path } = await prepare('Acme Outdoor', 'Spring customers', 'Summer customers')
    const page = await stage.open(path)
    await rowOf(page, 'Spring customers').getByText('30 days left').filter({ visible: true }).waitFor()
    await rowOf(page, 'Spring customers').getByText('by First client').filter({ visible: true }).waitFor()
    await rowOf(page, 'Spring customers')
      .getByText(/^until /)
      .filter({ visible: true })
      .waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Restore Spring customers' }).click()
    await rowOf(page, 'Spring customers').waitFor({ state: 'detached' })
    await rowOf(page, 'Summer customers').waitFor()
    assert.equal(await statusOf(accountId, 'Spring customers'), 'disabled')
    const notice = page.getByRole('region', { name: 'Notifications' })
    await notice.getByRole('button', { name: 'Open' }).click()
    await page.waitForURL(`**/accounts/${accountId}/connections/*`)
  })

  test('says which connector is missing, with the way to it, and restores once it is back', async () => {
    const { accountId, path } = await prepare('Lumen Cosmetics', 'Needs PostgreSQL')
    await stage.client.removeConnector({ accountId, id: postgresql.id })
    const page = await stage.open(path)
    const restore = page.getByRole('button', { name: 'Restore Needs PostgreSQL' })
    await restore.click()
    const refusal = page.getByRole('alert').filter({ hasText: 'Needs PostgreSQL cannot be restored yet' })
    await refusal.getByText('PostgreSQL was removed from this sub-account').waitFor()
    await refusal.getByText(/^Request /).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.equal(
      await refusal.getByRole('link', { name: 'Find it in the catalogue' }).getAttribute('href'),
      `/accounts/${accountId}/catalogue?q=PostgreSQL`,
    )
    await stage.client.addConnectors({ accountId, body: { connectorIds: [postgresql.id] } })
    await restore.click()
    await refusal.waitFor({ state: 'detached' })
    await page.getByText('No deleted connections').waitFor()
  })

  test('says so where another user restored it first', async () => {
    const { accountId, path } = await prepare('Northwind', 'Wanted twice')
    const page = await stage.open(path)
    const restore = page.getByRole('button', { name: 'Restore Wanted twice' })
    await restore.waitFor()
    const { reply } = await stage.client.listConnections({ accountId })
    await stage.client.restoreConnection({ accountId, id: reply[0]?.id ?? '' })
    await restore.click()
    await page.getByRole('alert').getByText('The connection is not deleted').waitFor()
    await page.getByText('No deleted connections').waitFor()
  })

  test('searches, and shows those of the whole organization on a phone', async () => {
    await prepare('Harbour Books', 'Winter customers')
    const page = await stage.open('/deleted?q=winter', { look: { width: 390, height: 844, theme: 'dark' } })
    await rowOf(page, 'Winter customers').getByText('Harbour Books').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert(await page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'))
    await page.getByRole('searchbox').fill('nothing like it')
    await page.getByText('No matching deleted connections').waitFor()
  })
})

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
